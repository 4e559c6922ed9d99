"""Prints the request that src/push/otlp_protobuf_test.cc expects, as opentelemetry-proto 1.45.2 writes it."""
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE

TAKEN, SINCE = 1_700_000_000_123_000_000, 1_600_000_000_000_000_000

request = ExportMetricsServiceRequest()
whole = request.resource_metrics.add()
attribute = whole.resource.attributes.add(key='service.name')
attribute.value.string_value = 'tidemark'
scope = whole.scope_metrics.add()
scope.scope.name = 'tidemark'
age = scope.metrics.add(name='t_age_seconds', description='An age.', unit='s')
for pipeline, value in (('a"b', 2.5), ('', 0.0)):
    point = age.gauge.data_points.add(time_unix_nano=TAKEN, as_double=value)
    label = point.attributes.add(key='pipeline')
    label.value.string_value = pipeline
sent = scope.metrics.add(name='t_sent_total', description='What was "sent".')
sent.sum.aggregation_temporality = AGGREGATION_TEMPORALITY_CUMULATIVE
sent.sum.is_monotonic = True
sent.sum.data_points.add(start_time_unix_nano=SINCE, time_unix_nano=TAKEN, as_double=7.0)
print(request.SerializeToString(deterministic=True).hex())
