import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";

/**
 * Who produces the records: the source as service name and the epoch as instance, unless `OTEL_SERVICE_NAME` or
 * `OTEL_RESOURCE_ATTRIBUTES` say otherwise.
 */
export function producerResource(source: string, sourceEpoch: string): Resource {
  const own = resourceFromAttributes({ "service.name": source, "service.instance.id": sourceEpoch });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}
