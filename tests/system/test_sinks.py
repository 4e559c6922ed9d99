"""What sinks send, against schemas and servers of those they are for."""
import json
import pathlib

import jsonschema
import pytest
import referencing

_FOLDER = pathlib.Path(__file__).parents[2] / 'testdata/openlineage'


def _read(name):
    return json.loads((_FOLDER / name).read_text())


def _registry():
    schemas = [_read(path.name) for path in _FOLDER.glob('*.json') if path.name != 'event.json']
    resources = [(schema['$id'], referencing.Resource.from_contents(schema)) for schema in schemas]
    return referencing.Registry().with_resources(resources)


def _check(value, reference):
    validator = jsonschema.Draft202012Validator({'$ref': reference}, registry=_registry(),
                                                format_checker=jsonschema.FormatChecker())
    validator.validate(value)


def test_an_openlineage_event_and_each_of_its_facets_fit_the_schema_they_name():
    event = _read('event.json')
    _check(event, event['schemaURL'])
    facets = event['dataset']['facets']
    assert set(facets) == {'schema', 'version', 'lifecycleStateChange'}
    for facet in facets.values():
        _check(facet, facet['_schemaURL'])


def test_the_schemas_refuse_what_does_not_fit():
    event = _read('event.json')
    event['dataset']['facets']['lifecycleStateChange']['lifecycleStateChange'] = 'SHRUNK'
    facet = event['dataset']['facets']['lifecycleStateChange']
    with pytest.raises(jsonschema.ValidationError):
        _check(facet, facet['_schemaURL'])
