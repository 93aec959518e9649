"""Words and rewritings of the consistency rules, as internal/xragent keeps them (lexicon.go, relevance.go)."""

import re

HEART, LUNGS, MIDLINE, OTHER = "ctr", "lung_asymmetry", "thoracic_shift", "other"

SUBJECTS = {
    HEART: "heart hearts cardiac cardiothoracic ctr ratio",
    LUNGS: "lung lungs hemithorax hemithoraces volume volumes index asymmetry",
    MIDLINE: "trachea tracheal mediastinum mediastinal shift airway",
    OTHER: """hilum hila hilar aorta aortic knob knuckle arch opacity opacities effusion effusions pneumothorax
        pneumothoraces consolidation consolidations infiltrate infiltrates infiltration nodule nodules mass masses rib
        ribs diaphragm hemidiaphragm hemidiaphragms lobe lobes vessels vasculature vascular artery arteries atrium
        ventricle thymus node nodes stomach liver spleen bone bones pleura pleural fissure fissures markings azygos
        goitre goiter thyroid catheter tube line drain bases apices zone zones scapula clavicle clavicles spine oedema
        edema congestion atelectasis bronchus bronchi vein veins cava lesion lesions shadowing density densities
        emphysema contour-other bubble""",
}

CUES = {
    "large": """enlarged enlargement enlarges large larger big bigger wide wider widened broad broadened increased
        increase dilated dilatation dilation oversized exceeds exceeding exceed above elevated hyperinflated
        overinflated hyperexpanded hyperinflation greater abnormal xlarge borderline""",
    "small": """smaller small reduced reduction decreased decrease diminished shrunken contracted low lower-volume below
        under less underinflated hypoinflated xsmall""",
    "normal": "normal unremarkable physiological physiologic xnormal",
    "equal": "symmetric symmetrical symmetrically symmetry equal equally same similar balanced comparable identical alike",
    "unequal": "asymmetric asymmetrical asymmetrically asymmetry unequal unequally differ differs difference discrepancy disparity",
    "moved": """deviated deviation deviates deviate shifted shift shifts displaced displacement displaces pushed pushes
        push pulled pulls pull moved moves drawn draws deflected deflection xmoved""",
    "central": "central centrally midline centred centered undisplaced undeviated xcentral",
    "cardiac": "cardiomegaly megalocardia",
    "loss": "xloss",
    "direction": "xdirleft xdirright leftward leftwards rightward rightwards",
}


def words(text):
    return frozenset(text.split())


VERBS = words("""is are was were has have had lies lie appears appear seems seem remains remain looks look shows show
    measures occupies suggests suggest exceeds fills sits demonstrates compresses pushes pulls displaces shifts explains
    indicates being""")
NEGATORS = words("""no not without never neither nor nothing none absent absence lack lacks lacking xnot free excludes
    denies unlikely""")
NOUNS = words("""enlargement dilatation dilation increase reduction decrease asymmetry symmetry difference discrepancy
    deviation displacement shift deflection hyperinflation""")
TRIGGERS = words("""volume volumes half midline middle limit limits range off centre center lost loss trachea tracheal
    mediastinum mediastinal airway it""")
HARD = words("""but however yet although though while whereas because since therefore thus hence nevertheless despite""")
EARLIER = words("previous previously prior earlier former formerly once yesterday ago")
LIMITS = words("""limit limits threshold cutoff above below exceeds exceed exceeding over under than beyond < > between
    within range bound bounds criterion""")
MUTING = words("""if would unless whether suppose supposing assuming hypothetically should were had suspicion suspected
    can assessable unavailable available withheld first initially initial thought considered ctr ratio value values ratios
    anything index shift option options choice alternative answer reject rejected discarded eliminated eliminate
    discard""")

SUBJECT = {w: s for s, text in SUBJECTS.items() for w in text.split()}
CUE = {w: c for c, text in CUES.items() for w in text.split()}
LOUD = frozenset(CUE) | TRIGGERS
SIDE = {w: "left" for w in ("left", "xdirleft", "leftward", "leftwards")}
SIDE |= {w: "right" for w in ("right", "xdirright", "rightward", "rightwards")}

_PICTURE = "(?:image|picture|film|screen|viewer|radiograph|page)"
REWRITES = [
    (re.compile(pattern, re.ASCII), to)
    for pattern, to in [
        ("[\u2019\u2018]", "'"),
        ("[\u2212\u2013\u2014]", "-"),
        (r"cannot", "can not"),
        (r"can't", "can not"),
        (r"n't\b", " not"),
        (r"\([^()]*\b" + _PICTURE + r"\b[^()]*\)", " "),
        (r",?\s*\b(which|that) (is|lies|means) (on |at )?(the )?(left|right)( hand)?( side| half)? of the " + _PICTURE + r"\b", " "),
        (r"\b(on |at |in )?the (left|right)( hand)?( side| half)? of the " + _PICTURE + r"\b", " "),
        (r"\b(image|picture|screen)[- ](left|right)\b", " "),
        (r"([a-z])-([a-z])", r"\1 \2"),
        (r"([a-z])-([a-z])", r"\1 \2"),
        (r"\b(there is |with |have )?(no|without|beyond|little) (any )?doubt( that| about)?\b", " "),
        (r"\b(undoubtedly|doubtless|not only|no less|nonetheless|not surprisingly)\b", " "),
        (
            r",?\s*\b(and |but )?not ((on|of|in|to|at|towards?) )?(the )?(patient's )?(left|right)( one| lung| side)?\s*([,.;)]| that |\Z)",
            r"\7 ",
        ),
        (r"\b(due|owing|secondary|thanks) to\b", "because"),
        (r"\b(compared|relative|in contrast|in comparison)( with| to)\b", "compared with"),
        (r"\b(similar|equal|identical|comparable) to\b", r"\1 with"),
        (r"\bno longer\b", "xnot"),
        (r"\b(anything|everything|all) but\b", "xnot"),
        (r"\bfar from( being)?\b", "xnot"),
        (r"\bfree (of|from)\b", "xnot"),
        (r"\bfails? to (show|demonstrate|reveal)\b", "xnot"),
        (r"\b(top|upper|high|low|borderline) normal\b", "xnormal"),
        (r"\b(at |reaches |near )?(the )?upper (limits?|end|border|bound) of (the )?normal( range)?\b", "xnormal"),
        (
            r"\b(above|beyond|exceeds|exceeding|over|outside|larger than|wider than|greater than|bigger than|more than) (the )?"
            r"(upper )?(limits? of )?(the )?normal( limits?| range| size)?\b",
            "xlarge",
        ),
        (r"\bwithin (the )?(limits? of normal|normal (limits?|range|bounds))\b", "xnormal"),
        (r"\bwithin (the )?(symmetric|symmetrical) (limits?|range|bounds)\b", "symmetric"),
        (r"\bnormal (in|for) (size|width|calib(re|er))\b", "xnormal"),
        (r"\b(less|smaller|narrower) than (one )?(a )?half\b", "xnormal"),
        (r"\bbelow (one )?(a )?half\b", "xnormal"),
        (r"\b(more|greater|wider|larger) than (one )?(a )?half\b", "xlarge"),
        (r"\b(above|over|exceeds|exceeding) (one )?(a )?half\b", "xlarge"),
        (
            r"\b(volume loss|loss of (lung )?volume|(has |have )?lost (some )?(lung )?volume|"
            r"(reduced|decreased|diminished|low|smaller) volume|volume (reduction|deficit))\b",
            "xloss",
        ),
        (r"\bmidline shift\b", "mediastinal shift"),
        (r"\bmidline structures\b", "mediastinum"),
        (r"\b(away )?from (the |its )?midline( position)?\b", "xmoved"),
        (r"\boff (the )?(midline|cent(re|er))\b", "xmoved"),
        (r"\bin (the )?(middle|midline|cent(re|er))( line)?\b", "xcentral"),
        (r"\b(to the )?(left|right) of (the )?(midline|middle|cent(re|er))( line)?\b", r"xdir\2"),
        (r"\baway from the (patient's )?left( side| lung| hemithorax)?\b", "xdirright"),
        (r"\baway from the (patient's )?right( side| lung| hemithorax)?\b", "xdirleft"),
        (
            r"\b(to|towards?) (the )?(patient's |collapsed |affected |opacified |far |upper |lower )?(left|right)( side| hemithorax)?\b",
            r"xdir\4",
        ),
        (r"\b(to|towards?) (that|the same|this|the ipsilateral|the affected) side\b|\bipsilaterally\b", "xdirsame"),
        (
            r"\b(to|towards?) the (opposite|other|contralateral|unaffected) side\b|\bcontralaterally\b|"
            r"\baway from (that|this|the affected) side\b",
            "xdirother",
        ),
        (r"\bpatient's\b", " "),
        (r"\bcut[- ]?off\b", "cutoff"),
        (r"\bcardiac (apex|device|pacemaker|lead|leads|surgery|failure)\b", "lead"),
        (r"\bheart failure\b", "failure"),
        (r"\bretrocardiac\b", "zone"),
        (r"\basymmetry index\b", "index"),
    ]
]

RELEVANCE = {
    HEART: re.compile(
        r"\b(heart size|size of the heart|cardiomegaly|cardiac (silhouette|size|shadow|contour|enlargement)|cardiothoracic|ctr|"
        r"heart failure|cardiac failure|cardiac decompensation|enlarged heart|heart (is |be |appears? )?enlarged|"
        r"enlargement of the heart|heart shadow|cardiomediastinal silhouette)\b",
        re.ASCII,
    ),
    LUNGS: re.compile(
        r"\b(volume loss|loss of (lung )?volume|lost volume|atelecta(sis|ses|tic)|collaps(e|ed|es)|hyperinflat(ion|ed)|"
        r"(hydro)?pneumothora(x|ces)|hemithora(x|ces)|haemithorax|lung (size|volume)s?|size of the lungs?|smaller lung|"
        r"((elevated|raised|high) (right |left )?(hemi)?diaphragm)|elevation of the (right |left )?hemidiaphragm|"
        r"(hemi)?diaphragm(atic)? (is )?(elevat(ed|ion)|raised))\b",
        re.ASCII,
    ),
    MIDLINE: re.compile(
        r"\b((mediastinal|tracheal|midline|thoracic) (shift(ing|ed)?|deviation)|"
        r"mediastin(um|al structures) (is |be )?(shifted|displaced|deviated)|shift of the (mediastinum|trachea|heart)|"
        r"deviat(ion|ed)( of the)? trachea|trachea (is |be )?(deviated|shifted|displaced|central)|tension|displacement|midline)\b",
        re.ASCII,
    ),
}
