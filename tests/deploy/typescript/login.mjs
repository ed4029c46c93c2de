// Logs in to an MCP server as a browser-less person would, calls the tool, and prints what happened as JSON.
// Arguments: the server's URL, the loopback port of the gateway, and the host names that live there.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import http from 'node:http';

const [address, port, ...hosts] = process.argv.slice(2);
const requests = [];

// Node's own fetch sets the Host header itself; this one keeps the name that the client asked for.
function overLoopback(url, init) {
  return new Promise((resolve, reject) => {
    const headers = Object.fromEntries(new Headers(init.headers));
    const options = { host: '127.0.0.1', port, path: url.pathname + url.search, method: init.method ?? 'GET',
      headers: { ...headers, host: url.host } };
    const request = http.request(options, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => {
        const empty = [204, 304].includes(response.statusCode);
        resolve(new Response(empty ? null : Buffer.concat(parts), { status: response.statusCode, headers: response.headers }));
      });
    });
    request.on('error', reject);
    request.end(init.body);
  });
}

async function relayed(input, init = {}) {
  const url = new URL(input);
  const local = hosts.includes(url.host);
  const response = local ? await overLoopback(url, init) : await fetch(url, init);
  requests.push(`${init.method ?? 'GET'} ${url.origin}${url.pathname} ${response.status}`);
  return response;
}

class Person {
  redirectUrl = 'http://127.0.0.1:9/callback';
  clientMetadata = { client_name: 'typescript', redirect_uris: [this.redirectUrl], token_endpoint_auth_method: 'none' };
  clientInformation() { return this.client; }
  saveClientInformation(client) { this.client = client; }
  tokens() { return this.kept; }
  saveTokens(tokens) { this.kept = tokens; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  codeVerifier() { return this.verifier; }
  async redirectToAuthorization(url) {
    const response = await fetch(url, { redirect: 'manual' });
    this.code = new URL(response.headers.get('location')).searchParams;
  }
}

const person = new Person();
const fresh = () => new StreamableHTTPClientTransport(new URL(address), { authProvider: person, fetch: relayed });
const first = fresh();
try {
  await new Client({ name: 'typescript', version: '1' }).connect(first);
  throw new Error('the server answered without a token');
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
await first.finishAuth(person.code.get('code'), person.code.get('iss') ?? undefined);
const client = new Client({ name: 'typescript', version: '1' });
await client.connect(fresh());
const { tools } = await client.listTools();
const result = await client.callTool({ name: 'search_knowledge', arguments: { query: 'filter', mode: 'lexical' } });
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), result: result.structuredContent, requests }));
