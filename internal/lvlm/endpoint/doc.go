// Package endpoint reads endpoint cards: where models run, what may be sent there, how much
// at a time, and what it costs. Nothing of it enters a key.
//
//	endpoints:
//	  - name: ward-vllm
//	    adapter: openai
//	    url: http://127.0.0.1:8000/v1/
//	    models: {qwen2.5-vl-7b: Qwen/Qwen2.5-VL-7B-Instruct}
//	    limits: {concurrency: 16, timeout: 10m}
//	    attestation: {local: true}
//
// models maps the names of model cards to what the endpoint calls them: a model name, at
// Azure the deployment, at Vertex AI the model id. Credentials are never written into a card;
// credential_env names the variable that holds one. For Gemini it holds the path of a
// credentials file; without it the machine's default credentials are used.
//
// One process may use an endpoint with a credential at a time: ID names that pair without
// showing it.
package endpoint
