package wire

// answerForms and requestForms describe what a server may send, in all revisions that
// toolx speaks: answers and notifications, and requests of its own. A form is a paragraph: its name, then its members, a line each:
//
//	name[?] type [revisions] [@check,…]
//
// A name with ? may be missing; members that are not named are free. Revisions are
// "from..to", each end may be left out, and without them a line is of all revisions;
// the name of a form may have them too. Behind @ stand the checks that look at the
// member, and all below it, by themselves.
//
// A type is a form, or
//
//	string number integer boolean object null any
//	fraction    a number from 0 to 1
//	natural     a whole number from 0
//	uri         a string that is an absolute URI
//	template    a string with balanced braces
//	"text"      that string
//	T[]  {T}    an array of T, an object whose members are T
//	T|U         either; of forms, those that the revision has
//
// message/… are the forms of messages, result/METHOD those of what a method is
// answered with, and METHOD those of a notification or request of the server's.
const answerForms = `
message/result
  jsonrpc "2.0" @rpc-version
  id Id @rpc-id-type,rpc-id-null
  result object @rpc-shape

message/error
  jsonrpc "2.0" @rpc-version
  id Id ..2025-06-18 @rpc-id-type,rpc-id-null,notification-answered
  id? Id 2025-11-25.. @rpc-id-type,rpc-id-null,notification-answered
  error Error @rpc-shape

message/request
  jsonrpc "2.0" @rpc-version
  id Id
  method string @rpc-shape
  params? RequestParams ..2025-06-18
  params? object 2025-11-25..

message/notification
  jsonrpc "2.0" @rpc-version
  method string @rpc-shape
  params? NotificationParams ..2025-06-18
  params? object 2025-11-25..

Error
  code integer
  message string

Id = string|integer

RequestParams
  _meta? RequestMeta

RequestMeta
  progressToken? Id

NotificationParams
  _meta? NotificationMeta

NotificationMeta
  io.modelcontextprotocol/subscriptionId? Id 2026-07-28..

Result
  _meta? ResultMeta
  resultType string 2026-07-28.. @result-type-missing

ResultMeta
  io.modelcontextprotocol/serverInfo? Implementation 2026-07-28..

result/initialize ..2025-11-25
  protocolVersion string @protocol-version-missing,protocol-version-format
  capabilities Capabilities
  serverInfo Implementation @serverinfo-incomplete
  instructions? string

result/server/discover 2026-07-28..
  supportedVersions string[]
  capabilities Capabilities
  instructions? string
  ttlMs natural @cache-hints
  cacheScope "public"|"private" @cache-hints

result/tools/list
  tools Tool[] @tools-shape
  nextCursor? string @cursor-empty
  ttlMs natural 2026-07-28.. @cache-hints
  cacheScope "public"|"private" 2026-07-28.. @cache-hints

result/resources/list
  resources Resource[]
  nextCursor? string @cursor-empty
  ttlMs natural 2026-07-28.. @cache-hints
  cacheScope "public"|"private" 2026-07-28.. @cache-hints

result/resources/templates/list
  resourceTemplates ResourceTemplate[]
  nextCursor? string @cursor-empty
  ttlMs natural 2026-07-28.. @cache-hints
  cacheScope "public"|"private" 2026-07-28.. @cache-hints

result/prompts/list
  prompts Prompt[]
  nextCursor? string @cursor-empty
  ttlMs natural 2026-07-28.. @cache-hints
  cacheScope "public"|"private" 2026-07-28.. @cache-hints

result/tools/call = CallToolResult|InputRequiredResult

CallToolResult
  content ContentBlock[] @content-shape
  isError? boolean
  structuredContent? object 2025-06-18..2025-11-25

InputRequiredResult 2026-07-28..
  resultType "input_required"
  inputRequests? {InputRequest}
  requestState? string

InputRequest = Sampling|Roots|Elicitation

Capabilities
  experimental? {object}
  extensions? {object} 2026-07-28..
  logging? object
  completions? object 2025-03-26..
  prompts? ListCapability
  resources? ResourceCapability
  tools? ListCapability
  tasks? TaskCapability 2025-11-25..2025-11-25

ListCapability
  listChanged? boolean

ResourceCapability
  listChanged? boolean
  subscribe? boolean

TaskCapability
  cancel? object
  list? object
  requests? TaskRequestCapability

TaskRequestCapability
  tools? TaskToolCapability

TaskToolCapability
  call? object

Implementation
  name string
  version string
  title? string 2025-06-18..
  description? string 2025-11-25..
  websiteUrl? uri 2025-11-25..
  icons? Icon[] 2025-11-25..

Icon
  src uri
  mimeType? string
  sizes? string[]
  theme? "light"|"dark"

Annotations
  audience? Role[]
  priority? fraction
  lastModified? string 2025-06-18..

Role = "user"|"assistant"

Tool
  name string @tool-name-missing
  title? string 2025-06-18..
  description? string
  inputSchema ToolSchema ..2025-11-25 @input-schema-missing,input-schema-type,schema-invalid,schema-bool
  inputSchema ObjectSchema 2026-07-28.. @input-schema-missing,input-schema-type,schema-invalid
  outputSchema? ToolSchema 2025-06-18..2025-11-25 @output-schema-type,schema-invalid,schema-bool
  outputSchema? AnySchema 2026-07-28.. @output-schema-type,schema-invalid
  annotations? ToolAnnotations 2025-03-26..
  execution? ToolExecution 2025-11-25..2025-11-25
  icons? Icon[] 2025-11-25..
  _meta? object 2025-06-18..

ToolSchema
  type "object"
  properties? {object}
  required? string[]
  $schema? string 2025-11-25..

ObjectSchema
  type "object"
  $schema? string

AnySchema
  $schema? string

ToolAnnotations
  title? string
  readOnlyHint? boolean
  destructiveHint? boolean
  idempotentHint? boolean
  openWorldHint? boolean

ToolExecution
  taskSupport? "forbidden"|"optional"|"required"

Resource
  uri uri
  name string
  title? string 2025-06-18..
  description? string
  mimeType? string
  size? integer
  annotations? Annotations
  icons? Icon[] 2025-11-25..
  _meta? object 2025-06-18..

ResourceTemplate
  uriTemplate template
  name string
  title? string 2025-06-18..
  description? string
  mimeType? string
  annotations? Annotations
  icons? Icon[] 2025-11-25..
  _meta? object 2025-06-18..

Prompt
  name string
  title? string 2025-06-18..
  description? string
  arguments? PromptArgument[]
  icons? Icon[] 2025-11-25..
  _meta? object 2025-06-18..

PromptArgument
  name string
  title? string 2025-06-18..
  description? string
  required? boolean

ContentBlock = TextContent|ImageContent|AudioContent|ResourceLink|EmbeddedResource

TextContent
  type "text"
  text string
  annotations? Annotations
  _meta? object 2025-06-18..

ImageContent
  type "image"
  data string
  mimeType string
  annotations? Annotations
  _meta? object 2025-06-18..

AudioContent 2025-03-26..
  type "audio"
  data string
  mimeType string
  annotations? Annotations
  _meta? object 2025-06-18..

ResourceLink 2025-06-18..
  type "resource_link"
  uri uri
  name string
  title? string
  description? string
  mimeType? string
  size? integer
  annotations? Annotations
  icons? Icon[] 2025-11-25..
  _meta? object

EmbeddedResource
  type "resource"
  resource TextResource|BlobResource
  annotations? Annotations
  _meta? object 2025-06-18..

TextResource
  uri uri
  text string
  mimeType? string
  _meta? object 2025-06-18..

BlobResource
  uri uri
  blob string
  mimeType? string
  _meta? object 2025-06-18..

notifications/cancelled
  params Cancelled

Cancelled
  requestId Id ..2025-06-18
  requestId? Id 2025-11-25..2025-11-25
  requestId Id 2026-07-28..
  reason? string
  _meta? NotificationMeta 2025-11-25..

notifications/progress
  params Progress

Progress
  progressToken Id
  progress number
  total? number
  message? string 2025-03-26..
  _meta? NotificationMeta 2025-11-25..

notifications/message
  params LogMessage

LogMessage
  level LogLevel
  data any
  logger? string
  _meta? NotificationMeta 2025-11-25..

LogLevel = "debug"|"info"|"notice"|"warning"|"error"|"critical"|"alert"|"emergency"

notifications/tools/list_changed
  params? NotificationParams

notifications/prompts/list_changed
  params? NotificationParams

notifications/resources/list_changed
  params? NotificationParams

notifications/resources/updated
  params ResourceUpdated

ResourceUpdated
  uri uri
  _meta? NotificationMeta 2025-11-25..

notifications/elicitation/complete 2025-11-25..2025-11-25
  params ElicitationDone

ElicitationDone
  elicitationId string

notifications/tasks/status 2025-11-25..2025-11-25
  params Task

Task
  taskId string
  status "working"|"input_required"|"completed"|"failed"|"cancelled"
  statusMessage? string
  createdAt string
  lastUpdatedAt string
  ttl integer|null
  pollInterval? integer
  _meta? NotificationMeta

notifications/subscriptions/acknowledged 2026-07-28..
  params Acknowledged

Acknowledged
  notifications SubscriptionFilter
  _meta? NotificationMeta

SubscriptionFilter
  toolsListChanged? boolean
  promptsListChanged? boolean
  resourcesListChanged? boolean
  resourceSubscriptions? string[]
`
