{{- define "tidemark.name" -}}
{{- if contains "tidemark" .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-tidemark" (.Release.Name | trunc 43 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "tidemark.selector" -}}
app.kubernetes.io/name: tidemark
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tidemark.labels" -}}
{{ include "tidemark.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name (.Chart.Version | replace "+" "_") }}
{{- end -}}

{{- define "tidemark.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "tidemark.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* The section http of config; what stands in a ConfigMap of others cannot be seen from here. */ -}}
{{- define "tidemark.http" -}}
{{- $config := dict -}}
{{- if not .Values.existingConfigMap -}}{{- $config = fromYaml .Values.config -}}{{- end -}}
{{- $http := get $config "http" -}}
{{- if kindIs "map" $http -}}{{- toYaml $http -}}{{- end -}}
{{- end -}}

{{- /* HTTP or HTTPS: what the daemon answers. A probe that speaks the other one ends the pod again and again. */ -}}
{{- define "tidemark.scheme" -}}
{{- $http := fromYaml (include "tidemark.http" .) -}}
{{- $told := ternary "HTTPS" "HTTP" (not (empty (get $http "tls"))) -}}
{{- if and .Values.scheme (not .Values.existingConfigMap) (ne .Values.scheme $told) -}}
{{- fail (printf "scheme: config says %s by its http.tls; leave scheme out" $told) -}}
{{- end -}}
{{- default $told .Values.scheme -}}
{{- end -}}

{{- /* A Secret's name may have dots and 253 characters, a volume's may not. */ -}}
{{- define "tidemark.secretVolume" -}}
{{- printf "secret-%s" (sha256sum . | trunc 16) -}}
{{- end -}}
