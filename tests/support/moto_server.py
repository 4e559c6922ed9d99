"""Runs moto as a server of S3, of Glue with the database "lake", and of SQS, that checks signatures.

Prints "READY ENDPOINT ACCESS_KEY_ID SECRET" once it answers. Ends with SIGTERM. Requests
are logged on stderr, one a line.
"""
import argparse
import json
import os
import threading
import urllib.request

os.environ.update(AWS_ACCESS_KEY_ID='setup', AWS_SECRET_ACCESS_KEY='setup', AWS_DEFAULT_REGION='us-east-1',
                  AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull, AWS_EC2_METADATA_DISABLED='true',
                  NO_PROXY='127.0.0.1')
for name in ('AWS_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3'):
    os.environ.pop(name, None)

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import make_server

# moto looks and writes in two steps; S3 promises one. And its request handling shares state among threads: now and then
# concurrent requests leave it answering 500 for good. One request at a time cures both; clients stay concurrent.
answering = threading.Lock()


def one_at_a_time(app):
    def call(environ, start_response):
        with answering:
            return list(app(environ, start_response))
    return call


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--bucket', action='append', default=[])
    parser.add_argument('--fill', action='append', default=[], metavar='BUCKET/FOLDER=COUNT')
    parser.add_argument('--tell', action='append', default=[], metavar='BUCKET',
                        help='what comes about in it is told to the queue of the same name')
    args = parser.parse_args()
    server = make_server('127.0.0.1', 0, one_at_a_time(DomainDispatcherApplication(create_backend_app)), threaded=True,
                         request_handler=MotoRequestHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    endpoint = f'http://127.0.0.1:{server.server_address[1]}'

    s3 = boto3.client('s3', endpoint_url=endpoint)
    for bucket in args.bucket:
        s3.create_bucket(Bucket=bucket)
    boto3.client('glue', endpoint_url=endpoint).create_database(DatabaseInput={'Name': 'lake'})
    for bucket in args.tell:
        sqs = boto3.client('sqs', endpoint_url=endpoint)
        url = sqs.create_queue(QueueName=bucket)['QueueUrl']
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=['QueueArn'])['Attributes']['QueueArn']
        s3.put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration={
            'QueueConfigurations': [{'QueueArn': arn, 'Events': ['s3:ObjectCreated:*']}]})
    for fill in args.fill:
        place, count = fill.split('=')
        bucket, folder = place.split('/', 1)
        # Past HTTP: thousands of requests would take a minute.
        backend = s3_backends['123456789012']['aws']
        for i in range(int(count)):
            backend.put_object(bucket, f'{folder}/{i:06}', b'x')
    iam = boto3.client('iam', endpoint_url=endpoint)
    iam.create_user(UserName='tidemark')
    iam.put_user_policy(UserName='tidemark', PolicyName='all', PolicyDocument=json.dumps(
        {'Version': '2012-10-17',
         'Statement': [{'Effect': 'Allow', 'Action': ['s3:*', 'glue:*', 'sqs:*'], 'Resource': '*'}]}))
    key = iam.create_access_key(UserName='tidemark')['AccessKey']
    # From here on every request must be signed by that user.
    urllib.request.urlopen(urllib.request.Request(
        f'{endpoint}/moto-api/reset-auth', data=b'0', method='POST', headers={'Content-Type': 'text/plain'})).read()
    print('READY', endpoint, key['AccessKeyId'], key['SecretAccessKey'], flush=True)
    thread.join()


main()
