"""Signs requests with Microsoft's own library and prints the authorizations that src/storage/azure_signer_test.cc
expects (azure-storage-blob 12.28.0).
"""
from urllib.parse import quote

from azure.core.pipeline import PipelineContext, PipelineRequest
from azure.core.pipeline.transport import HttpRequest
from azure.storage.blob._shared.authentication import SharedKeyCredentialPolicy

ACCOUNT, KEY = 'lakeaccount', 'a2V5LW9mLWEtdGVzdC8rPQ=='


def authorization(method, path, query=None, headers=None, body_bytes=0):
    fixed = {'x-ms-date': 'Mon, 30 Nov 2026 04:05:06 GMT', 'x-ms-version': '2021-12-02'}
    if body_bytes:
        fixed['Content-Length'] = str(body_bytes)
    text = '&'.join(f"{name}={quote(value, safe='')}" for name, value in (query or {}).items())
    url = f'https://x{path}' + (f'?{text}' if text else '')
    request = HttpRequest(method, url, headers={**fixed, **(headers or {})})
    policy = SharedKeyCredentialPolicy(ACCOUNT, KEY)
    pipeline_request = PipelineRequest(request, PipelineContext(None))
    policy.on_request(pipeline_request)
    return request.headers['Authorization']


print(authorization('GET', '/lake/a%20b/%2B%25/%E6%B0%B4'))
print(authorization('GET', '/lake', {'restype': 'container', 'comp': 'list', 'maxresults': '5000', 'prefix': 'a b/+',
                                     'delimiter': '/', 'marker': '2!92!MDAwMDA'}))
print(authorization('GET', '/lake/x', headers={'range': 'bytes=0-9', 'if-match': '"0x8DA"', 'byte_range': 'bytes=0-9'}))
print(authorization('PUT', '/lakeaccount/lake/x', headers={'if-none-match': '*', 'x-ms-blob-type': 'BlockBlob'},
                    body_bytes=5))
