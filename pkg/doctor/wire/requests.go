package wire

// requestForms are the requests that a server may make, in the notation of
// answerForms. Under 2026-07-28 it makes none, and some stand in its answers instead
// (InputRequest).
const requestForms = `
ping ..2025-11-25
  id Id 2025-11-25..2025-11-25
  params? RequestParams

roots/list ..2025-11-25 = Roots

Roots
  id Id 2025-11-25..2025-11-25
  method "roots/list"
  params? RequestParams ..2025-11-25
  params? PlainParams 2026-07-28..

PlainParams
  _meta? object

tasks/get 2025-11-25..2025-11-25 = TaskRequest

tasks/result 2025-11-25..2025-11-25 = TaskRequest

tasks/cancel 2025-11-25..2025-11-25 = TaskRequest

TaskRequest
  id Id
  params TaskName

TaskName
  taskId string

tasks/list 2025-11-25..2025-11-25
  id Id
  params? PageParams

PageParams
  cursor? string
  _meta? RequestMeta

sampling/createMessage ..2025-11-25 = Sampling

Sampling
  id Id 2025-11-25..2025-11-25
  method "sampling/createMessage"
  params SamplingParams

SamplingParams
  messages SamplingMessage[]
  maxTokens integer
  systemPrompt? string
  temperature? number
  stopSequences? string[]
  includeContext? "none"|"thisServer"|"allServers"
  modelPreferences? ModelPreferences
  metadata? object
  tools? Tool[] 2025-11-25..
  toolChoice? ToolChoice 2025-11-25..
  task? TaskMetadata 2025-11-25..2025-11-25
  _meta? RequestMeta 2025-11-25..2025-11-25

SamplingMessage
  role Role
  content SamplingContent ..2025-06-18
  content SamplingContent|SamplingContent[] 2025-11-25..
  _meta? object 2025-11-25..

SamplingContent = TextContent|ImageContent|AudioContent|ToolUse|ToolOutcome

ToolUse 2025-11-25..
  type "tool_use"
  id string
  name string
  input object
  _meta? object

ToolOutcome 2025-11-25..
  type "tool_result"
  toolUseId string
  content ContentBlock[]
  isError? boolean
  structuredContent? object ..2025-11-25
  _meta? object

ModelPreferences
  hints? ModelHint[]
  costPriority? fraction
  speedPriority? fraction
  intelligencePriority? fraction

ModelHint
  name? string

ToolChoice
  mode? "auto"|"none"|"required"

TaskMetadata
  ttl? integer

elicitation/create 2025-06-18..2025-11-25 = Elicitation

Elicitation
  id Id 2025-11-25..2025-11-25
  method "elicitation/create"
  params FormElicitation|URLElicitation

FormElicitation
  message string
  requestedSchema FormSchema
  mode? "form" 2025-11-25..
  task? TaskMetadata 2025-11-25..2025-11-25
  _meta? RequestMeta 2025-11-25..2025-11-25

URLElicitation 2025-11-25..
  mode "url"
  message string
  url uri
  elicitationId string ..2025-11-25
  task? TaskMetadata ..2025-11-25
  _meta? RequestMeta ..2025-11-25

FormSchema
  type "object"
  properties {FormField}
  required? string[]
  $schema? string 2025-11-25..

FormField = TextField|NumberField|BooleanField|EnumField|TitledField|EnumsField|TitledEnumsField

TextField
  type "string"
  title? string
  description? string
  minLength? integer
  maxLength? integer
  format? "email"|"uri"|"date"|"date-time"
  default? string 2025-11-25..

NumberField
  type "number"|"integer"
  title? string
  description? string
  minimum? number
  maximum? number
  default? number 2025-11-25..

BooleanField
  type "boolean"
  title? string
  description? string
  default? boolean

EnumField
  type "string"
  enum string[]
  enumNames? string[]
  title? string
  description? string
  default? string 2025-11-25..

TitledField 2025-11-25..
  type "string"
  oneOf TitledOption[]
  title? string
  description? string
  default? string

TitledOption
  const string
  title string

EnumsField 2025-11-25..
  type "array"
  items EnumItems
  title? string
  description? string
  minItems? integer
  maxItems? integer
  default? string[]

EnumItems
  type "string"
  enum string[]

TitledEnumsField 2025-11-25..
  type "array"
  items TitledItems
  title? string
  description? string
  minItems? integer
  maxItems? integer
  default? string[]

TitledItems
  anyOf TitledOption[]
`
