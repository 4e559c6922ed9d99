"""Signs requests with botocore and prints the signatures that src/storage/s3_signer_test.cc expects (botocore 1.44.8).

The last is the "GET Object" example of AWS's own documentation of Signature Version 4 for S3.
"""
import datetime
from unittest import mock

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


def signature(when, method, host, path, query='', headers=None, body=b'', region='us-east-1', token=None,
              key='AKIDEXAMPLE', secret='wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'):
    request = AWSRequest(method=method, url=f'https://{host}{path}' + (f'?{query}' if query else ''),
                         headers=headers or {}, data=body)
    request.context['payload_signing_enabled'] = True
    with mock.patch('botocore.auth.get_current_datetime', lambda *_, **__: when):
        S3SigV4Auth(Credentials(key, secret, token), 's3', region).add_auth(request)
    return request.headers['Authorization'].rsplit('=', 1)[1]


when = datetime.datetime(2026, 11, 30, 4, 5, 6)
print(signature(when, 'GET', 'lake.s3.eu-west-1.amazonaws.com', '/a%20b/%2B%25/%E6%B0%B4', region='eu-west-1'))
print(signature(when, 'GET', '127.0.0.1:9000', '/lake',
                'delimiter=%2F&list-type=2&prefix=a%20b%2F%2B&start-after=a%20b%2F%2B1%26', token='token/+=1'))
print(signature(when, 'PUT', '127.0.0.1:9000', '/lake/x', headers={'if-none-match': '*'}, body=b'hello'))
print(signature(datetime.datetime(2013, 5, 24), 'GET', 'examplebucket.s3.amazonaws.com', '/test.txt',
                headers={'range': 'bytes=0-9'}, key='AKIAIOSFODNN7EXAMPLE',
                secret='wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'))
