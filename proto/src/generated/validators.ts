// @ts-nocheck
// Generated from proto/schema by `npm run generate`. Do not edit.
import { codePointLength } from "../text.ts";
import type { Validator } from "../validator.ts";

export const validEvent: Validator = validate20 as unknown as Validator;
const schema31 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"agent-lifecycle/event.v1.schema.json","title":"agent-lifecycle event, schema v1","description":"One observation of one child. Identifiers are checked after surrounding white space is trimmed. Unknown members are ignored.","type":"object","required":["schemaVersion","eventId","source","sourceEpoch","childId","lineage","kind","observedAt"],"properties":{"schemaVersion":{"const":1},"eventId":{"$ref":"#/$defs/identifier"},"source":{"$ref":"#/$defs/identifier"},"sourceEpoch":{"$ref":"#/$defs/identifier"},"childId":{"$ref":"#/$defs/identifier"},"lineage":{"$ref":"#/$defs/lineage"},"kind":{"enum":["created","state_changed","activity","heartbeat","terminal","reconciliation","diagnostic"]},"state":{"$ref":"#/$defs/state"},"observedAt":{"$ref":"#/$defs/timestamp"},"sequence":{"$ref":"#/$defs/sequence"},"activity":{"type":"string","description":"Cut at 1,024 characters."},"details":{"type":"object","description":"Redacted; cut at 8 levels and 16 KiB."},"capabilities":{"$ref":"#/$defs/capabilities"}},"allOf":[{"if":{"required":["kind"],"properties":{"kind":{"const":"created"}}},"then":{"required":["state"],"properties":{"state":{"const":"created"}}}},{"if":{"required":["kind"],"properties":{"kind":{"const":"state_changed"}}},"then":{"required":["state"]}},{"if":{"required":["kind"],"properties":{"kind":{"const":"terminal"}}},"then":{"required":["state"],"properties":{"state":{"enum":["completed","failed","cancelled","lost"]}}}},{"if":{"required":["kind"],"properties":{"kind":{"enum":["activity","heartbeat","reconciliation","diagnostic"]}}},"then":{"properties":{"state":false}}}],"$defs":{"identifier":{"type":"string","minLength":1,"maxLength":256},"state":{"enum":["created","starting","running","waiting","completed","failed","cancelled","lost"]},"timestamp":{"type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|\\+00:00)$","description":"RFC 3339 in UTC; also a real calendar time."},"sequence":{"type":"integer","minimum":0,"maximum":9007199254740991},"lineage":{"type":"object","required":["rootChildId","attempt","external"],"properties":{"rootChildId":{"$ref":"#/$defs/identifier"},"attempt":{"type":"integer","minimum":0,"maximum":9007199254740991},"external":{"type":"boolean"},"parentChildId":{"$ref":"#/$defs/identifier"},"adoptedAt":{"$ref":"#/$defs/timestamp"}}},"capabilities":{"type":"object","properties":{"history":{"enum":["known","unknown"]},"heartbeat":{"enum":["known","unknown"]},"snapshot":{"enum":["known","unknown"]},"cancel":{"enum":["known","unknown"]},"terminalCause":{"enum":["known","unknown"]}}}}};
const schema40 = {"enum":["created","starting","running","waiting","completed","failed","cancelled","lost"]};
const schema43 = {"type":"object","properties":{"history":{"enum":["known","unknown"]},"heartbeat":{"enum":["known","unknown"]},"snapshot":{"enum":["known","unknown"]},"cancel":{"enum":["known","unknown"]},"terminalCause":{"enum":["known","unknown"]}}};
const func1 = codePointLength;
const pattern4 = new RegExp("^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|\\+00:00)$", "u");

function validate21(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate21.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.rootChildId === undefined) && (missing0 = "rootChildId")) || ((data.attempt === undefined) && (missing0 = "attempt"))) || ((data.external === undefined) && (missing0 = "external"))){
validate21.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
if(data.rootChildId !== undefined){
let data0 = data.rootChildId;
const _errs1 = errors;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(func1(data0) > 256){
validate21.errors = [{instancePath:instancePath+"/rootChildId",schemaPath:"#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data0) < 1){
validate21.errors = [{instancePath:instancePath+"/rootChildId",schemaPath:"#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate21.errors = [{instancePath:instancePath+"/rootChildId",schemaPath:"#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.attempt !== undefined){
let data1 = data.attempt;
const _errs4 = errors;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
validate21.errors = [{instancePath:instancePath+"/attempt",schemaPath:"#/properties/attempt/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs4){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 9007199254740991 || isNaN(data1)){
validate21.errors = [{instancePath:instancePath+"/attempt",schemaPath:"#/properties/attempt/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991"}];
return false;
}
else {
if(data1 < 0 || isNaN(data1)){
validate21.errors = [{instancePath:instancePath+"/attempt",schemaPath:"#/properties/attempt/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.external !== undefined){
const _errs6 = errors;
if(typeof data.external !== "boolean"){
validate21.errors = [{instancePath:instancePath+"/external",schemaPath:"#/properties/external/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parentChildId !== undefined){
let data3 = data.parentChildId;
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data3 === "string"){
if(func1(data3) > 256){
validate21.errors = [{instancePath:instancePath+"/parentChildId",schemaPath:"#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data3) < 1){
validate21.errors = [{instancePath:instancePath+"/parentChildId",schemaPath:"#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate21.errors = [{instancePath:instancePath+"/parentChildId",schemaPath:"#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.adoptedAt !== undefined){
let data4 = data.adoptedAt;
const _errs11 = errors;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data4 === "string"){
if(!pattern4.test(data4)){
validate21.errors = [{instancePath:instancePath+"/adoptedAt",schemaPath:"#/$defs/timestamp/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|\\+00:00)$"},message:"must match pattern \""+"^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|\\+00:00)$"+"\""}];
return false;
}
}
else {
validate21.errors = [{instancePath:instancePath+"/adoptedAt",schemaPath:"#/$defs/timestamp/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate21.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate21.errors = vErrors;
return errors === 0;
}
validate21.evaluated = {"props":{"rootChildId":true,"attempt":true,"external":true,"parentChildId":true,"adoptedAt":true},"dynamicProps":false,"dynamicItems":false};


function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="agent-lifecycle/event.v1.schema.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate20.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
const _errs1 = errors;
const _errs2 = errors;
let valid1 = true;
const _errs3 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.kind === undefined) && (missing0 = "kind")){
const err0 = {};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
if(data.kind !== undefined){
if("created" !== data.kind){
const err1 = {};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
}
var _valid0 = _errs3 === errors;
errors = _errs2;
if(vErrors !== null){
if(_errs2){
vErrors.length = _errs2;
}
else {
vErrors = null;
}
}
if(_valid0){
const _errs5 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing1;
if((data.state === undefined) && (missing1 = "state")){
validate20.errors = [{instancePath,schemaPath:"#/allOf/0/then/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"}];
return false;
}
else {
if(data.state !== undefined){
if("created" !== data.state){
validate20.errors = [{instancePath:instancePath+"/state",schemaPath:"#/allOf/0/then/properties/state/const",keyword:"const",params:{allowedValue: "created"},message:"must be equal to constant"}];
return false;
}
}
}
}
var _valid0 = _errs5 === errors;
valid1 = _valid0;
if(valid1){
var props0 = {};
props0.state = true;
props0.kind = true;
}
}
if(!valid1){
const err2 = {instancePath,schemaPath:"#/allOf/0/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
validate20.errors = vErrors;
return false;
}
var valid0 = _errs1 === errors;
if(valid0){
const _errs7 = errors;
const _errs8 = errors;
let valid4 = true;
const _errs9 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing2;
if((data.kind === undefined) && (missing2 = "kind")){
const err3 = {};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
else {
if(data.kind !== undefined){
if("state_changed" !== data.kind){
const err4 = {};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
}
var _valid1 = _errs9 === errors;
errors = _errs8;
if(vErrors !== null){
if(_errs8){
vErrors.length = _errs8;
}
else {
vErrors = null;
}
}
if(_valid1){
const _errs11 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing3;
if((data.state === undefined) && (missing3 = "state")){
validate20.errors = [{instancePath,schemaPath:"#/allOf/1/then/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"}];
return false;
}
}
var _valid1 = _errs11 === errors;
valid4 = _valid1;
}
if(!valid4){
const err5 = {instancePath,schemaPath:"#/allOf/1/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
validate20.errors = vErrors;
return false;
}
var valid0 = _errs7 === errors;
if(valid0){
if(props0 !== true){
props0 = props0 || {};
props0.kind = true;
}
const _errs12 = errors;
const _errs13 = errors;
let valid6 = true;
const _errs14 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing4;
if((data.kind === undefined) && (missing4 = "kind")){
const err6 = {};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
else {
if(data.kind !== undefined){
if("terminal" !== data.kind){
const err7 = {};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
}
var _valid2 = _errs14 === errors;
errors = _errs13;
if(vErrors !== null){
if(_errs13){
vErrors.length = _errs13;
}
else {
vErrors = null;
}
}
if(_valid2){
const _errs16 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing5;
if((data.state === undefined) && (missing5 = "state")){
validate20.errors = [{instancePath,schemaPath:"#/allOf/2/then/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"}];
return false;
}
else {
if(data.state !== undefined){
let data4 = data.state;
if(!((((data4 === "completed") || (data4 === "failed")) || (data4 === "cancelled")) || (data4 === "lost"))){
validate20.errors = [{instancePath:instancePath+"/state",schemaPath:"#/allOf/2/then/properties/state/enum",keyword:"enum",params:{allowedValues: schema31.allOf[2].then.properties.state.enum},message:"must be equal to one of the allowed values"}];
return false;
}
}
}
}
var _valid2 = _errs16 === errors;
valid6 = _valid2;
if(valid6){
var props1 = {};
props1.state = true;
props1.kind = true;
}
}
if(!valid6){
const err8 = {instancePath,schemaPath:"#/allOf/2/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
validate20.errors = vErrors;
return false;
}
var valid0 = _errs12 === errors;
if(valid0){
if(props0 !== true && props1 !== undefined){
if(props1 === true){
props0 = true;
}
else {
props0 = props0 || {};
Object.assign(props0, props1);
}
}
const _errs18 = errors;
const _errs19 = errors;
let valid9 = true;
const _errs20 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing6;
if((data.kind === undefined) && (missing6 = "kind")){
const err9 = {};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
else {
if(data.kind !== undefined){
let data5 = data.kind;
if(!((((data5 === "activity") || (data5 === "heartbeat")) || (data5 === "reconciliation")) || (data5 === "diagnostic"))){
const err10 = {};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
}
var _valid3 = _errs20 === errors;
errors = _errs19;
if(vErrors !== null){
if(_errs19){
vErrors.length = _errs19;
}
else {
vErrors = null;
}
}
if(_valid3){
const _errs22 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.state !== undefined){
validate20.errors = [{instancePath:instancePath+"/state",schemaPath:"#/allOf/3/then/properties/state/false schema",keyword:"false schema",params:{},message:"boolean schema is false"}];
return false;
}
}
var _valid3 = _errs22 === errors;
valid9 = _valid3;
if(valid9){
var props2 = {};
props2.state = true;
props2.kind = true;
}
}
if(!valid9){
const err11 = {instancePath,schemaPath:"#/allOf/3/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
validate20.errors = vErrors;
return false;
}
var valid0 = _errs18 === errors;
if(valid0){
if(props0 !== true && props2 !== undefined){
if(props2 === true){
props0 = true;
}
else {
props0 = props0 || {};
Object.assign(props0, props2);
}
}
}
}
}
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing7;
if(((((((((data.schemaVersion === undefined) && (missing7 = "schemaVersion")) || ((data.eventId === undefined) && (missing7 = "eventId"))) || ((data.source === undefined) && (missing7 = "source"))) || ((data.sourceEpoch === undefined) && (missing7 = "sourceEpoch"))) || ((data.childId === undefined) && (missing7 = "childId"))) || ((data.lineage === undefined) && (missing7 = "lineage"))) || ((data.kind === undefined) && (missing7 = "kind"))) || ((data.observedAt === undefined) && (missing7 = "observedAt"))){
validate20.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing7},message:"must have required property '"+missing7+"'"}];
return false;
}
else {
if(props0 !== true){
props0 = props0 || {};
props0.schemaVersion = true;
props0.eventId = true;
props0.source = true;
props0.sourceEpoch = true;
props0.childId = true;
props0.lineage = true;
props0.kind = true;
props0.state = true;
props0.observedAt = true;
props0.sequence = true;
props0.activity = true;
props0.details = true;
props0.capabilities = true;
}
if(data.schemaVersion !== undefined){
const _errs23 = errors;
if(1 !== data.schemaVersion){
validate20.errors = [{instancePath:instancePath+"/schemaVersion",schemaPath:"#/properties/schemaVersion/const",keyword:"const",params:{allowedValue: 1},message:"must be equal to constant"}];
return false;
}
var valid12 = _errs23 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.eventId !== undefined){
let data8 = data.eventId;
const _errs24 = errors;
const _errs25 = errors;
if(errors === _errs25){
if(typeof data8 === "string"){
if(func1(data8) > 256){
validate20.errors = [{instancePath:instancePath+"/eventId",schemaPath:"#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data8) < 1){
validate20.errors = [{instancePath:instancePath+"/eventId",schemaPath:"#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate20.errors = [{instancePath:instancePath+"/eventId",schemaPath:"#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid12 = _errs24 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.source !== undefined){
let data9 = data.source;
const _errs27 = errors;
const _errs28 = errors;
if(errors === _errs28){
if(typeof data9 === "string"){
if(func1(data9) > 256){
validate20.errors = [{instancePath:instancePath+"/source",schemaPath:"#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data9) < 1){
validate20.errors = [{instancePath:instancePath+"/source",schemaPath:"#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate20.errors = [{instancePath:instancePath+"/source",schemaPath:"#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid12 = _errs27 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.sourceEpoch !== undefined){
let data10 = data.sourceEpoch;
const _errs30 = errors;
const _errs31 = errors;
if(errors === _errs31){
if(typeof data10 === "string"){
if(func1(data10) > 256){
validate20.errors = [{instancePath:instancePath+"/sourceEpoch",schemaPath:"#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data10) < 1){
validate20.errors = [{instancePath:instancePath+"/sourceEpoch",schemaPath:"#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate20.errors = [{instancePath:instancePath+"/sourceEpoch",schemaPath:"#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid12 = _errs30 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.childId !== undefined){
let data11 = data.childId;
const _errs33 = errors;
const _errs34 = errors;
if(errors === _errs34){
if(typeof data11 === "string"){
if(func1(data11) > 256){
validate20.errors = [{instancePath:instancePath+"/childId",schemaPath:"#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data11) < 1){
validate20.errors = [{instancePath:instancePath+"/childId",schemaPath:"#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate20.errors = [{instancePath:instancePath+"/childId",schemaPath:"#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid12 = _errs33 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.lineage !== undefined){
const _errs36 = errors;
if(!(validate21(data.lineage, {instancePath:instancePath+"/lineage",parentData:data,parentDataProperty:"lineage",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate21.errors : vErrors.concat(validate21.errors);
errors = vErrors.length;
}
var valid12 = _errs36 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.kind !== undefined){
let data13 = data.kind;
const _errs37 = errors;
if(!(((((((data13 === "created") || (data13 === "state_changed")) || (data13 === "activity")) || (data13 === "heartbeat")) || (data13 === "terminal")) || (data13 === "reconciliation")) || (data13 === "diagnostic"))){
validate20.errors = [{instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/enum",keyword:"enum",params:{allowedValues: schema31.properties.kind.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid12 = _errs37 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.state !== undefined){
let data14 = data.state;
const _errs38 = errors;
if(!((((((((data14 === "created") || (data14 === "starting")) || (data14 === "running")) || (data14 === "waiting")) || (data14 === "completed")) || (data14 === "failed")) || (data14 === "cancelled")) || (data14 === "lost"))){
validate20.errors = [{instancePath:instancePath+"/state",schemaPath:"#/$defs/state/enum",keyword:"enum",params:{allowedValues: schema40.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid12 = _errs38 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.observedAt !== undefined){
let data15 = data.observedAt;
const _errs40 = errors;
const _errs41 = errors;
if(errors === _errs41){
if(typeof data15 === "string"){
if(!pattern4.test(data15)){
validate20.errors = [{instancePath:instancePath+"/observedAt",schemaPath:"#/$defs/timestamp/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|\\+00:00)$"},message:"must match pattern \""+"^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|\\+00:00)$"+"\""}];
return false;
}
}
else {
validate20.errors = [{instancePath:instancePath+"/observedAt",schemaPath:"#/$defs/timestamp/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid12 = _errs40 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.sequence !== undefined){
let data16 = data.sequence;
const _errs43 = errors;
const _errs44 = errors;
if(!(((typeof data16 == "number") && (!(data16 % 1) && !isNaN(data16))) && (isFinite(data16)))){
validate20.errors = [{instancePath:instancePath+"/sequence",schemaPath:"#/$defs/sequence/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs44){
if((typeof data16 == "number") && (isFinite(data16))){
if(data16 > 9007199254740991 || isNaN(data16)){
validate20.errors = [{instancePath:instancePath+"/sequence",schemaPath:"#/$defs/sequence/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991"}];
return false;
}
else {
if(data16 < 0 || isNaN(data16)){
validate20.errors = [{instancePath:instancePath+"/sequence",schemaPath:"#/$defs/sequence/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid12 = _errs43 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.activity !== undefined){
const _errs46 = errors;
if(typeof data.activity !== "string"){
validate20.errors = [{instancePath:instancePath+"/activity",schemaPath:"#/properties/activity/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid12 = _errs46 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.details !== undefined){
let data18 = data.details;
const _errs48 = errors;
if(!(data18 && typeof data18 == "object" && !Array.isArray(data18))){
validate20.errors = [{instancePath:instancePath+"/details",schemaPath:"#/properties/details/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
var valid12 = _errs48 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data.capabilities !== undefined){
let data19 = data.capabilities;
const _errs50 = errors;
const _errs51 = errors;
if(errors === _errs51){
if(data19 && typeof data19 == "object" && !Array.isArray(data19)){
if(data19.history !== undefined){
let data20 = data19.history;
const _errs53 = errors;
if(!((data20 === "known") || (data20 === "unknown"))){
validate20.errors = [{instancePath:instancePath+"/capabilities/history",schemaPath:"#/$defs/capabilities/properties/history/enum",keyword:"enum",params:{allowedValues: schema43.properties.history.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid21 = _errs53 === errors;
}
else {
var valid21 = true;
}
if(valid21){
if(data19.heartbeat !== undefined){
let data21 = data19.heartbeat;
const _errs54 = errors;
if(!((data21 === "known") || (data21 === "unknown"))){
validate20.errors = [{instancePath:instancePath+"/capabilities/heartbeat",schemaPath:"#/$defs/capabilities/properties/heartbeat/enum",keyword:"enum",params:{allowedValues: schema43.properties.heartbeat.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid21 = _errs54 === errors;
}
else {
var valid21 = true;
}
if(valid21){
if(data19.snapshot !== undefined){
let data22 = data19.snapshot;
const _errs55 = errors;
if(!((data22 === "known") || (data22 === "unknown"))){
validate20.errors = [{instancePath:instancePath+"/capabilities/snapshot",schemaPath:"#/$defs/capabilities/properties/snapshot/enum",keyword:"enum",params:{allowedValues: schema43.properties.snapshot.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid21 = _errs55 === errors;
}
else {
var valid21 = true;
}
if(valid21){
if(data19.cancel !== undefined){
let data23 = data19.cancel;
const _errs56 = errors;
if(!((data23 === "known") || (data23 === "unknown"))){
validate20.errors = [{instancePath:instancePath+"/capabilities/cancel",schemaPath:"#/$defs/capabilities/properties/cancel/enum",keyword:"enum",params:{allowedValues: schema43.properties.cancel.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid21 = _errs56 === errors;
}
else {
var valid21 = true;
}
if(valid21){
if(data19.terminalCause !== undefined){
let data24 = data19.terminalCause;
const _errs57 = errors;
if(!((data24 === "known") || (data24 === "unknown"))){
validate20.errors = [{instancePath:instancePath+"/capabilities/terminalCause",schemaPath:"#/$defs/capabilities/properties/terminalCause/enum",keyword:"enum",params:{allowedValues: schema43.properties.terminalCause.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid21 = _errs57 === errors;
}
else {
var valid21 = true;
}
}
}
}
}
}
else {
validate20.errors = [{instancePath:instancePath+"/capabilities",schemaPath:"#/$defs/capabilities/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid12 = _errs50 === errors;
}
else {
var valid12 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate20.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate20.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate20.evaluated = {"dynamicProps":true,"dynamicItems":false};

export const validSnapshot: Validator = validate23 as unknown as Validator;

function validate24(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate24.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.rootChildId === undefined) && (missing0 = "rootChildId")) || ((data.attempt === undefined) && (missing0 = "attempt"))) || ((data.external === undefined) && (missing0 = "external"))){
validate24.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
if(data.rootChildId !== undefined){
let data0 = data.rootChildId;
const _errs1 = errors;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(func1(data0) > 256){
validate24.errors = [{instancePath:instancePath+"/rootChildId",schemaPath:"#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data0) < 1){
validate24.errors = [{instancePath:instancePath+"/rootChildId",schemaPath:"#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/rootChildId",schemaPath:"#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.attempt !== undefined){
let data1 = data.attempt;
const _errs4 = errors;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
validate24.errors = [{instancePath:instancePath+"/attempt",schemaPath:"#/properties/attempt/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs4){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 9007199254740991 || isNaN(data1)){
validate24.errors = [{instancePath:instancePath+"/attempt",schemaPath:"#/properties/attempt/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991"}];
return false;
}
else {
if(data1 < 0 || isNaN(data1)){
validate24.errors = [{instancePath:instancePath+"/attempt",schemaPath:"#/properties/attempt/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.external !== undefined){
const _errs6 = errors;
if(typeof data.external !== "boolean"){
validate24.errors = [{instancePath:instancePath+"/external",schemaPath:"#/properties/external/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parentChildId !== undefined){
let data3 = data.parentChildId;
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data3 === "string"){
if(func1(data3) > 256){
validate24.errors = [{instancePath:instancePath+"/parentChildId",schemaPath:"#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data3) < 1){
validate24.errors = [{instancePath:instancePath+"/parentChildId",schemaPath:"#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/parentChildId",schemaPath:"#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.adoptedAt !== undefined){
let data4 = data.adoptedAt;
const _errs11 = errors;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data4 === "string"){
if(!pattern4.test(data4)){
validate24.errors = [{instancePath:instancePath+"/adoptedAt",schemaPath:"#/$defs/timestamp/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|\\+00:00)$"},message:"must match pattern \""+"^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|\\+00:00)$"+"\""}];
return false;
}
}
else {
validate24.errors = [{instancePath:instancePath+"/adoptedAt",schemaPath:"#/$defs/timestamp/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate24.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate24.errors = vErrors;
return errors === 0;
}
validate24.evaluated = {"props":{"rootChildId":true,"attempt":true,"external":true,"parentChildId":true,"adoptedAt":true},"dynamicProps":false,"dynamicItems":false};


function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="agent-lifecycle/snapshot.v1.schema.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate23.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.source === undefined) && (missing0 = "source")) || ((data.sourceEpoch === undefined) && (missing0 = "sourceEpoch"))) || ((data.snapshotId === undefined) && (missing0 = "snapshotId"))) || ((data.observedAt === undefined) && (missing0 = "observedAt"))) || ((data.complete === undefined) && (missing0 = "complete"))) || ((data.coverage === undefined) && (missing0 = "coverage"))) || ((data.children === undefined) && (missing0 = "children"))){
validate23.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
if(data.source !== undefined){
let data0 = data.source;
const _errs1 = errors;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(func1(data0) > 256){
validate23.errors = [{instancePath:instancePath+"/source",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data0) < 1){
validate23.errors = [{instancePath:instancePath+"/source",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/source",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sourceEpoch !== undefined){
let data1 = data.sourceEpoch;
const _errs4 = errors;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data1 === "string"){
if(func1(data1) > 256){
validate23.errors = [{instancePath:instancePath+"/sourceEpoch",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data1) < 1){
validate23.errors = [{instancePath:instancePath+"/sourceEpoch",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/sourceEpoch",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.snapshotId !== undefined){
let data2 = data.snapshotId;
const _errs7 = errors;
const _errs8 = errors;
if(errors === _errs8){
if(typeof data2 === "string"){
if(func1(data2) > 256){
validate23.errors = [{instancePath:instancePath+"/snapshotId",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data2) < 1){
validate23.errors = [{instancePath:instancePath+"/snapshotId",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/snapshotId",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.observedAt !== undefined){
let data3 = data.observedAt;
const _errs10 = errors;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data3 === "string"){
if(!pattern4.test(data3)){
validate23.errors = [{instancePath:instancePath+"/observedAt",schemaPath:"event.v1.schema.json#/$defs/timestamp/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|\\+00:00)$"},message:"must match pattern \""+"^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:[Zz]|\\+00:00)$"+"\""}];
return false;
}
}
else {
validate23.errors = [{instancePath:instancePath+"/observedAt",schemaPath:"event.v1.schema.json#/$defs/timestamp/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.complete !== undefined){
const _errs13 = errors;
if(typeof data.complete !== "boolean"){
validate23.errors = [{instancePath:instancePath+"/complete",schemaPath:"#/properties/complete/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coverage !== undefined){
let data5 = data.coverage;
const _errs15 = errors;
const _errs16 = errors;
let valid5 = false;
let passing0 = null;
const _errs17 = errors;
if("all" !== data5){
const err0 = {instancePath:instancePath+"/coverage",schemaPath:"#/properties/coverage/oneOf/0/const",keyword:"const",params:{allowedValue: "all"},message:"must be equal to constant"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs17 === errors;
if(_valid0){
valid5 = true;
passing0 = 0;
}
const _errs18 = errors;
if(errors === _errs18){
if(Array.isArray(data5)){
if(data5.length > 100000){
const err1 = {instancePath:instancePath+"/coverage",schemaPath:"#/properties/coverage/oneOf/1/maxItems",keyword:"maxItems",params:{limit: 100000},message:"must NOT have more than 100000 items"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
else {
if(data5.length < 1){
const err2 = {instancePath:instancePath+"/coverage",schemaPath:"#/properties/coverage/oneOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
else {
var valid6 = true;
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
let data6 = data5[i0];
const _errs20 = errors;
const _errs21 = errors;
if(errors === _errs21){
if(typeof data6 === "string"){
if(func1(data6) > 256){
const err3 = {instancePath:instancePath+"/coverage/" + i0,schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
else {
if(func1(data6) < 1){
const err4 = {instancePath:instancePath+"/coverage/" + i0,schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath:instancePath+"/coverage/" + i0,schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
var valid6 = _errs20 === errors;
if(!valid6){
break;
}
}
}
}
}
else {
const err6 = {instancePath:instancePath+"/coverage",schemaPath:"#/properties/coverage/oneOf/1/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
var _valid0 = _errs18 === errors;
if(_valid0 && valid5){
valid5 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid5 = true;
passing0 = 1;
}
}
if(!valid5){
const err7 = {instancePath:instancePath+"/coverage",schemaPath:"#/properties/coverage/oneOf",keyword:"oneOf",params:{passingSchemas: passing0},message:"must match exactly one schema in oneOf"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.children !== undefined){
let data7 = data.children;
const _errs23 = errors;
if(errors === _errs23){
if(Array.isArray(data7)){
if(data7.length > 100000){
validate23.errors = [{instancePath:instancePath+"/children",schemaPath:"#/properties/children/maxItems",keyword:"maxItems",params:{limit: 100000},message:"must NOT have more than 100000 items"}];
return false;
}
else {
var valid8 = true;
const len1 = data7.length;
for(let i1=0; i1<len1; i1++){
let data8 = data7[i1];
const _errs25 = errors;
if(errors === _errs25){
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
let missing1;
if(((data8.childId === undefined) && (missing1 = "childId")) || ((data8.state === undefined) && (missing1 = "state"))){
validate23.errors = [{instancePath:instancePath+"/children/" + i1,schemaPath:"#/properties/children/items/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"}];
return false;
}
else {
if(data8.childId !== undefined){
let data9 = data8.childId;
const _errs27 = errors;
const _errs28 = errors;
if(errors === _errs28){
if(typeof data9 === "string"){
if(func1(data9) > 256){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/childId",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data9) < 1){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/childId",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/childId",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid9 = _errs27 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data8.state !== undefined){
let data10 = data8.state;
const _errs30 = errors;
if(!((((((((data10 === "created") || (data10 === "starting")) || (data10 === "running")) || (data10 === "waiting")) || (data10 === "completed")) || (data10 === "failed")) || (data10 === "cancelled")) || (data10 === "lost"))){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/state",schemaPath:"event.v1.schema.json#/$defs/state/enum",keyword:"enum",params:{allowedValues: schema40.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid9 = _errs30 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data8.sequence !== undefined){
let data11 = data8.sequence;
const _errs32 = errors;
const _errs33 = errors;
if(!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/sequence",schemaPath:"event.v1.schema.json#/$defs/sequence/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs33){
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 > 9007199254740991 || isNaN(data11)){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/sequence",schemaPath:"event.v1.schema.json#/$defs/sequence/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991"}];
return false;
}
else {
if(data11 < 0 || isNaN(data11)){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/sequence",schemaPath:"event.v1.schema.json#/$defs/sequence/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid9 = _errs32 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data8.activity !== undefined){
const _errs35 = errors;
if(typeof data8.activity !== "string"){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/activity",schemaPath:"#/properties/children/items/properties/activity/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid9 = _errs35 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data8.lineage !== undefined){
const _errs37 = errors;
if(!(validate24(data8.lineage, {instancePath:instancePath+"/children/" + i1+"/lineage",parentData:data8,parentDataProperty:"lineage",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var valid9 = _errs37 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data8.capabilities !== undefined){
let data14 = data8.capabilities;
const _errs38 = errors;
const _errs39 = errors;
if(errors === _errs39){
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
if(data14.history !== undefined){
let data15 = data14.history;
const _errs41 = errors;
if(!((data15 === "known") || (data15 === "unknown"))){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/capabilities/history",schemaPath:"event.v1.schema.json#/$defs/capabilities/properties/history/enum",keyword:"enum",params:{allowedValues: schema43.properties.history.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs41 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data14.heartbeat !== undefined){
let data16 = data14.heartbeat;
const _errs42 = errors;
if(!((data16 === "known") || (data16 === "unknown"))){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/capabilities/heartbeat",schemaPath:"event.v1.schema.json#/$defs/capabilities/properties/heartbeat/enum",keyword:"enum",params:{allowedValues: schema43.properties.heartbeat.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs42 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data14.snapshot !== undefined){
let data17 = data14.snapshot;
const _errs43 = errors;
if(!((data17 === "known") || (data17 === "unknown"))){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/capabilities/snapshot",schemaPath:"event.v1.schema.json#/$defs/capabilities/properties/snapshot/enum",keyword:"enum",params:{allowedValues: schema43.properties.snapshot.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs43 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data14.cancel !== undefined){
let data18 = data14.cancel;
const _errs44 = errors;
if(!((data18 === "known") || (data18 === "unknown"))){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/capabilities/cancel",schemaPath:"event.v1.schema.json#/$defs/capabilities/properties/cancel/enum",keyword:"enum",params:{allowedValues: schema43.properties.cancel.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs44 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data14.terminalCause !== undefined){
let data19 = data14.terminalCause;
const _errs45 = errors;
if(!((data19 === "known") || (data19 === "unknown"))){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/capabilities/terminalCause",schemaPath:"event.v1.schema.json#/$defs/capabilities/properties/terminalCause/enum",keyword:"enum",params:{allowedValues: schema43.properties.terminalCause.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs45 === errors;
}
else {
var valid14 = true;
}
}
}
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/capabilities",schemaPath:"event.v1.schema.json#/$defs/capabilities/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid9 = _errs38 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data8.details !== undefined){
let data20 = data8.details;
const _errs46 = errors;
if(!(data20 && typeof data20 == "object" && !Array.isArray(data20))){
validate23.errors = [{instancePath:instancePath+"/children/" + i1+"/details",schemaPath:"#/properties/children/items/properties/details/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
var valid9 = _errs46 === errors;
}
else {
var valid9 = true;
}
}
}
}
}
}
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/children/" + i1,schemaPath:"#/properties/children/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid8 = _errs25 === errors;
if(!valid8){
break;
}
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/children",schemaPath:"#/properties/children/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate23.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate23.errors = vErrors;
return errors === 0;
}
validate23.evaluated = {"props":{"source":true,"sourceEpoch":true,"snapshotId":true,"observedAt":true,"complete":true,"coverage":true,"children":true},"dynamicProps":false,"dynamicItems":false};

export const validVisibilityContract: Validator = validate26 as unknown as Validator;
const schema58 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"agent-lifecycle/visibility-contract.v1.schema.json","title":"agent-lifecycle visibility contract, schema v1","description":"What whoever launches a child states beforehand about how it can be seen. Unknown members are ignored; whatever is not known is stated as unknown.","type":"object","required":["contractVersion","source","sourceEpoch","adapter","epochPolicy","capabilities","events","snapshot","loss"],"properties":{"contractVersion":{"const":1},"source":{"$ref":"event.v1.schema.json#/$defs/identifier"},"sourceEpoch":{"$ref":"event.v1.schema.json#/$defs/identifier"},"adapter":{"type":"object","description":"What observes the child and owns its source.","required":["name"],"properties":{"name":{"$ref":"event.v1.schema.json#/$defs/identifier"},"version":{"$ref":"event.v1.schema.json#/$defs/identifier"}}},"epochPolicy":{"enum":["new_for_each_start","stated_by_host","unknown"],"description":"When the source's sequence space begins anew."},"child":{"type":"object","description":"The child, where the contract is about one; absent where it is about the source.","required":["childId","rootChildId","attempt"],"properties":{"childId":{"$ref":"event.v1.schema.json#/$defs/identifier"},"rootChildId":{"$ref":"event.v1.schema.json#/$defs/identifier"},"parentChildId":{"$ref":"event.v1.schema.json#/$defs/identifier"},"attempt":{"$ref":"event.v1.schema.json#/$defs/sequence"}}},"capabilities":{"type":"object","required":["activity","heartbeat","snapshot","cancel","history","terminalCause"],"properties":{"activity":{"enum":["known","unknown"]},"heartbeat":{"enum":["known","unknown"]},"snapshot":{"enum":["known","unknown"]},"cancel":{"enum":["known","unknown"]},"history":{"enum":["known","unknown"]},"terminalCause":{"enum":["known","unknown"]}}},"events":{"type":"object","required":["transport","sequence","redaction"],"properties":{"transport":{"enum":["otlp","jsonl","host","exporter","none"]},"endpoint":{"type":"string","maxLength":2048,"description":"A URL without credentials, or a path."},"sequence":{"enum":["per_child","none","unknown"]},"heartbeatIntervalMs":{"type":"integer","minimum":1,"maximum":9007199254740991},"redaction":{"enum":["before_emission","at_collector","unknown"],"description":"Where secrets are taken out first."}}},"snapshot":{"type":"object","required":["authority","reconnect"],"properties":{"authority":{"enum":["none","pull","push","unknown"]},"endpoint":{"type":"string","maxLength":2048},"reconnect":{"enum":["replays_in_order","resumes_live","unknown"],"description":"What comes after the way to the collector was interrupted."},"omissionGrace":{"type":"integer","minimum":1,"maximum":1000000,"description":"Complete snapshots in a row without the child before it counts as missing."}}},"loss":{"type":"object","required":["requires"],"properties":{"requires":{"type":"array","maxItems":8,"description":"Evidence that is required before stale may become lost; none: it never does.","items":{"enum":["promised_heartbeats_missing","authority_unreachable","authoritative_omission"]}},"staleAfterMs":{"type":"integer","minimum":1,"maximum":9007199254740991}}},"details":{"type":"object","description":"Carried and shown, and nothing depends on it. Redacted and cut as an event's."}}};

function validate26(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="agent-lifecycle/visibility-contract.v1.schema.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate26.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((data.contractVersion === undefined) && (missing0 = "contractVersion")) || ((data.source === undefined) && (missing0 = "source"))) || ((data.sourceEpoch === undefined) && (missing0 = "sourceEpoch"))) || ((data.adapter === undefined) && (missing0 = "adapter"))) || ((data.epochPolicy === undefined) && (missing0 = "epochPolicy"))) || ((data.capabilities === undefined) && (missing0 = "capabilities"))) || ((data.events === undefined) && (missing0 = "events"))) || ((data.snapshot === undefined) && (missing0 = "snapshot"))) || ((data.loss === undefined) && (missing0 = "loss"))){
validate26.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
if(data.contractVersion !== undefined){
const _errs1 = errors;
if(1 !== data.contractVersion){
validate26.errors = [{instancePath:instancePath+"/contractVersion",schemaPath:"#/properties/contractVersion/const",keyword:"const",params:{allowedValue: 1},message:"must be equal to constant"}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source !== undefined){
let data1 = data.source;
const _errs2 = errors;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 === "string"){
if(func1(data1) > 256){
validate26.errors = [{instancePath:instancePath+"/source",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data1) < 1){
validate26.errors = [{instancePath:instancePath+"/source",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/source",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sourceEpoch !== undefined){
let data2 = data.sourceEpoch;
const _errs5 = errors;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data2 === "string"){
if(func1(data2) > 256){
validate26.errors = [{instancePath:instancePath+"/sourceEpoch",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data2) < 1){
validate26.errors = [{instancePath:instancePath+"/sourceEpoch",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/sourceEpoch",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.adapter !== undefined){
let data3 = data.adapter;
const _errs8 = errors;
if(errors === _errs8){
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing1;
if((data3.name === undefined) && (missing1 = "name")){
validate26.errors = [{instancePath:instancePath+"/adapter",schemaPath:"#/properties/adapter/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"}];
return false;
}
else {
if(data3.name !== undefined){
let data4 = data3.name;
const _errs10 = errors;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data4 === "string"){
if(func1(data4) > 256){
validate26.errors = [{instancePath:instancePath+"/adapter/name",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data4) < 1){
validate26.errors = [{instancePath:instancePath+"/adapter/name",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/adapter/name",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid3 = _errs10 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data3.version !== undefined){
let data5 = data3.version;
const _errs13 = errors;
const _errs14 = errors;
if(errors === _errs14){
if(typeof data5 === "string"){
if(func1(data5) > 256){
validate26.errors = [{instancePath:instancePath+"/adapter/version",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data5) < 1){
validate26.errors = [{instancePath:instancePath+"/adapter/version",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/adapter/version",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid3 = _errs13 === errors;
}
else {
var valid3 = true;
}
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/adapter",schemaPath:"#/properties/adapter/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.epochPolicy !== undefined){
let data6 = data.epochPolicy;
const _errs16 = errors;
if(!(((data6 === "new_for_each_start") || (data6 === "stated_by_host")) || (data6 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/epochPolicy",schemaPath:"#/properties/epochPolicy/enum",keyword:"enum",params:{allowedValues: schema58.properties.epochPolicy.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.child !== undefined){
let data7 = data.child;
const _errs17 = errors;
if(errors === _errs17){
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
let missing2;
if((((data7.childId === undefined) && (missing2 = "childId")) || ((data7.rootChildId === undefined) && (missing2 = "rootChildId"))) || ((data7.attempt === undefined) && (missing2 = "attempt"))){
validate26.errors = [{instancePath:instancePath+"/child",schemaPath:"#/properties/child/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'"}];
return false;
}
else {
if(data7.childId !== undefined){
let data8 = data7.childId;
const _errs19 = errors;
const _errs20 = errors;
if(errors === _errs20){
if(typeof data8 === "string"){
if(func1(data8) > 256){
validate26.errors = [{instancePath:instancePath+"/child/childId",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data8) < 1){
validate26.errors = [{instancePath:instancePath+"/child/childId",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/child/childId",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid6 = _errs19 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data7.rootChildId !== undefined){
let data9 = data7.rootChildId;
const _errs22 = errors;
const _errs23 = errors;
if(errors === _errs23){
if(typeof data9 === "string"){
if(func1(data9) > 256){
validate26.errors = [{instancePath:instancePath+"/child/rootChildId",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data9) < 1){
validate26.errors = [{instancePath:instancePath+"/child/rootChildId",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/child/rootChildId",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid6 = _errs22 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data7.parentChildId !== undefined){
let data10 = data7.parentChildId;
const _errs25 = errors;
const _errs26 = errors;
if(errors === _errs26){
if(typeof data10 === "string"){
if(func1(data10) > 256){
validate26.errors = [{instancePath:instancePath+"/child/parentChildId",schemaPath:"event.v1.schema.json#/$defs/identifier/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(func1(data10) < 1){
validate26.errors = [{instancePath:instancePath+"/child/parentChildId",schemaPath:"event.v1.schema.json#/$defs/identifier/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/child/parentChildId",schemaPath:"event.v1.schema.json#/$defs/identifier/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid6 = _errs25 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data7.attempt !== undefined){
let data11 = data7.attempt;
const _errs28 = errors;
const _errs29 = errors;
if(!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))){
validate26.errors = [{instancePath:instancePath+"/child/attempt",schemaPath:"event.v1.schema.json#/$defs/sequence/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs29){
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 > 9007199254740991 || isNaN(data11)){
validate26.errors = [{instancePath:instancePath+"/child/attempt",schemaPath:"event.v1.schema.json#/$defs/sequence/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991"}];
return false;
}
else {
if(data11 < 0 || isNaN(data11)){
validate26.errors = [{instancePath:instancePath+"/child/attempt",schemaPath:"event.v1.schema.json#/$defs/sequence/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid6 = _errs28 === errors;
}
else {
var valid6 = true;
}
}
}
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/child",schemaPath:"#/properties/child/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.capabilities !== undefined){
let data12 = data.capabilities;
const _errs31 = errors;
if(errors === _errs31){
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
let missing3;
if(((((((data12.activity === undefined) && (missing3 = "activity")) || ((data12.heartbeat === undefined) && (missing3 = "heartbeat"))) || ((data12.snapshot === undefined) && (missing3 = "snapshot"))) || ((data12.cancel === undefined) && (missing3 = "cancel"))) || ((data12.history === undefined) && (missing3 = "history"))) || ((data12.terminalCause === undefined) && (missing3 = "terminalCause"))){
validate26.errors = [{instancePath:instancePath+"/capabilities",schemaPath:"#/properties/capabilities/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"}];
return false;
}
else {
if(data12.activity !== undefined){
let data13 = data12.activity;
const _errs33 = errors;
if(!((data13 === "known") || (data13 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/capabilities/activity",schemaPath:"#/properties/capabilities/properties/activity/enum",keyword:"enum",params:{allowedValues: schema58.properties.capabilities.properties.activity.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid11 = _errs33 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data12.heartbeat !== undefined){
let data14 = data12.heartbeat;
const _errs34 = errors;
if(!((data14 === "known") || (data14 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/capabilities/heartbeat",schemaPath:"#/properties/capabilities/properties/heartbeat/enum",keyword:"enum",params:{allowedValues: schema58.properties.capabilities.properties.heartbeat.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid11 = _errs34 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data12.snapshot !== undefined){
let data15 = data12.snapshot;
const _errs35 = errors;
if(!((data15 === "known") || (data15 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/capabilities/snapshot",schemaPath:"#/properties/capabilities/properties/snapshot/enum",keyword:"enum",params:{allowedValues: schema58.properties.capabilities.properties.snapshot.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid11 = _errs35 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data12.cancel !== undefined){
let data16 = data12.cancel;
const _errs36 = errors;
if(!((data16 === "known") || (data16 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/capabilities/cancel",schemaPath:"#/properties/capabilities/properties/cancel/enum",keyword:"enum",params:{allowedValues: schema58.properties.capabilities.properties.cancel.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid11 = _errs36 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data12.history !== undefined){
let data17 = data12.history;
const _errs37 = errors;
if(!((data17 === "known") || (data17 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/capabilities/history",schemaPath:"#/properties/capabilities/properties/history/enum",keyword:"enum",params:{allowedValues: schema58.properties.capabilities.properties.history.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid11 = _errs37 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data12.terminalCause !== undefined){
let data18 = data12.terminalCause;
const _errs38 = errors;
if(!((data18 === "known") || (data18 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/capabilities/terminalCause",schemaPath:"#/properties/capabilities/properties/terminalCause/enum",keyword:"enum",params:{allowedValues: schema58.properties.capabilities.properties.terminalCause.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid11 = _errs38 === errors;
}
else {
var valid11 = true;
}
}
}
}
}
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/capabilities",schemaPath:"#/properties/capabilities/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.events !== undefined){
let data19 = data.events;
const _errs39 = errors;
if(errors === _errs39){
if(data19 && typeof data19 == "object" && !Array.isArray(data19)){
let missing4;
if((((data19.transport === undefined) && (missing4 = "transport")) || ((data19.sequence === undefined) && (missing4 = "sequence"))) || ((data19.redaction === undefined) && (missing4 = "redaction"))){
validate26.errors = [{instancePath:instancePath+"/events",schemaPath:"#/properties/events/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'"}];
return false;
}
else {
if(data19.transport !== undefined){
let data20 = data19.transport;
const _errs41 = errors;
if(!(((((data20 === "otlp") || (data20 === "jsonl")) || (data20 === "host")) || (data20 === "exporter")) || (data20 === "none"))){
validate26.errors = [{instancePath:instancePath+"/events/transport",schemaPath:"#/properties/events/properties/transport/enum",keyword:"enum",params:{allowedValues: schema58.properties.events.properties.transport.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid12 = _errs41 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data19.endpoint !== undefined){
let data21 = data19.endpoint;
const _errs42 = errors;
if(errors === _errs42){
if(typeof data21 === "string"){
if(func1(data21) > 2048){
validate26.errors = [{instancePath:instancePath+"/events/endpoint",schemaPath:"#/properties/events/properties/endpoint/maxLength",keyword:"maxLength",params:{limit: 2048},message:"must NOT have more than 2048 characters"}];
return false;
}
}
else {
validate26.errors = [{instancePath:instancePath+"/events/endpoint",schemaPath:"#/properties/events/properties/endpoint/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid12 = _errs42 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data19.sequence !== undefined){
let data22 = data19.sequence;
const _errs44 = errors;
if(!(((data22 === "per_child") || (data22 === "none")) || (data22 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/events/sequence",schemaPath:"#/properties/events/properties/sequence/enum",keyword:"enum",params:{allowedValues: schema58.properties.events.properties.sequence.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid12 = _errs44 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data19.heartbeatIntervalMs !== undefined){
let data23 = data19.heartbeatIntervalMs;
const _errs45 = errors;
if(!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))){
validate26.errors = [{instancePath:instancePath+"/events/heartbeatIntervalMs",schemaPath:"#/properties/events/properties/heartbeatIntervalMs/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs45){
if((typeof data23 == "number") && (isFinite(data23))){
if(data23 > 9007199254740991 || isNaN(data23)){
validate26.errors = [{instancePath:instancePath+"/events/heartbeatIntervalMs",schemaPath:"#/properties/events/properties/heartbeatIntervalMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991"}];
return false;
}
else {
if(data23 < 1 || isNaN(data23)){
validate26.errors = [{instancePath:instancePath+"/events/heartbeatIntervalMs",schemaPath:"#/properties/events/properties/heartbeatIntervalMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
}
var valid12 = _errs45 === errors;
}
else {
var valid12 = true;
}
if(valid12){
if(data19.redaction !== undefined){
let data24 = data19.redaction;
const _errs47 = errors;
if(!(((data24 === "before_emission") || (data24 === "at_collector")) || (data24 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/events/redaction",schemaPath:"#/properties/events/properties/redaction/enum",keyword:"enum",params:{allowedValues: schema58.properties.events.properties.redaction.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid12 = _errs47 === errors;
}
else {
var valid12 = true;
}
}
}
}
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/events",schemaPath:"#/properties/events/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs39 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.snapshot !== undefined){
let data25 = data.snapshot;
const _errs48 = errors;
if(errors === _errs48){
if(data25 && typeof data25 == "object" && !Array.isArray(data25)){
let missing5;
if(((data25.authority === undefined) && (missing5 = "authority")) || ((data25.reconnect === undefined) && (missing5 = "reconnect"))){
validate26.errors = [{instancePath:instancePath+"/snapshot",schemaPath:"#/properties/snapshot/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"}];
return false;
}
else {
if(data25.authority !== undefined){
let data26 = data25.authority;
const _errs50 = errors;
if(!((((data26 === "none") || (data26 === "pull")) || (data26 === "push")) || (data26 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/snapshot/authority",schemaPath:"#/properties/snapshot/properties/authority/enum",keyword:"enum",params:{allowedValues: schema58.properties.snapshot.properties.authority.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid13 = _errs50 === errors;
}
else {
var valid13 = true;
}
if(valid13){
if(data25.endpoint !== undefined){
let data27 = data25.endpoint;
const _errs51 = errors;
if(errors === _errs51){
if(typeof data27 === "string"){
if(func1(data27) > 2048){
validate26.errors = [{instancePath:instancePath+"/snapshot/endpoint",schemaPath:"#/properties/snapshot/properties/endpoint/maxLength",keyword:"maxLength",params:{limit: 2048},message:"must NOT have more than 2048 characters"}];
return false;
}
}
else {
validate26.errors = [{instancePath:instancePath+"/snapshot/endpoint",schemaPath:"#/properties/snapshot/properties/endpoint/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid13 = _errs51 === errors;
}
else {
var valid13 = true;
}
if(valid13){
if(data25.reconnect !== undefined){
let data28 = data25.reconnect;
const _errs53 = errors;
if(!(((data28 === "replays_in_order") || (data28 === "resumes_live")) || (data28 === "unknown"))){
validate26.errors = [{instancePath:instancePath+"/snapshot/reconnect",schemaPath:"#/properties/snapshot/properties/reconnect/enum",keyword:"enum",params:{allowedValues: schema58.properties.snapshot.properties.reconnect.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid13 = _errs53 === errors;
}
else {
var valid13 = true;
}
if(valid13){
if(data25.omissionGrace !== undefined){
let data29 = data25.omissionGrace;
const _errs54 = errors;
if(!(((typeof data29 == "number") && (!(data29 % 1) && !isNaN(data29))) && (isFinite(data29)))){
validate26.errors = [{instancePath:instancePath+"/snapshot/omissionGrace",schemaPath:"#/properties/snapshot/properties/omissionGrace/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs54){
if((typeof data29 == "number") && (isFinite(data29))){
if(data29 > 1000000 || isNaN(data29)){
validate26.errors = [{instancePath:instancePath+"/snapshot/omissionGrace",schemaPath:"#/properties/snapshot/properties/omissionGrace/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"}];
return false;
}
else {
if(data29 < 1 || isNaN(data29)){
validate26.errors = [{instancePath:instancePath+"/snapshot/omissionGrace",schemaPath:"#/properties/snapshot/properties/omissionGrace/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
}
var valid13 = _errs54 === errors;
}
else {
var valid13 = true;
}
}
}
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/snapshot",schemaPath:"#/properties/snapshot/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs48 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.loss !== undefined){
let data30 = data.loss;
const _errs56 = errors;
if(errors === _errs56){
if(data30 && typeof data30 == "object" && !Array.isArray(data30)){
let missing6;
if((data30.requires === undefined) && (missing6 = "requires")){
validate26.errors = [{instancePath:instancePath+"/loss",schemaPath:"#/properties/loss/required",keyword:"required",params:{missingProperty: missing6},message:"must have required property '"+missing6+"'"}];
return false;
}
else {
if(data30.requires !== undefined){
let data31 = data30.requires;
const _errs58 = errors;
if(errors === _errs58){
if(Array.isArray(data31)){
if(data31.length > 8){
validate26.errors = [{instancePath:instancePath+"/loss/requires",schemaPath:"#/properties/loss/properties/requires/maxItems",keyword:"maxItems",params:{limit: 8},message:"must NOT have more than 8 items"}];
return false;
}
else {
var valid15 = true;
const len0 = data31.length;
for(let i0=0; i0<len0; i0++){
let data32 = data31[i0];
const _errs60 = errors;
if(!(((data32 === "promised_heartbeats_missing") || (data32 === "authority_unreachable")) || (data32 === "authoritative_omission"))){
validate26.errors = [{instancePath:instancePath+"/loss/requires/" + i0,schemaPath:"#/properties/loss/properties/requires/items/enum",keyword:"enum",params:{allowedValues: schema58.properties.loss.properties.requires.items.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid15 = _errs60 === errors;
if(!valid15){
break;
}
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/loss/requires",schemaPath:"#/properties/loss/properties/requires/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid14 = _errs58 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data30.staleAfterMs !== undefined){
let data33 = data30.staleAfterMs;
const _errs61 = errors;
if(!(((typeof data33 == "number") && (!(data33 % 1) && !isNaN(data33))) && (isFinite(data33)))){
validate26.errors = [{instancePath:instancePath+"/loss/staleAfterMs",schemaPath:"#/properties/loss/properties/staleAfterMs/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs61){
if((typeof data33 == "number") && (isFinite(data33))){
if(data33 > 9007199254740991 || isNaN(data33)){
validate26.errors = [{instancePath:instancePath+"/loss/staleAfterMs",schemaPath:"#/properties/loss/properties/staleAfterMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991"}];
return false;
}
else {
if(data33 < 1 || isNaN(data33)){
validate26.errors = [{instancePath:instancePath+"/loss/staleAfterMs",schemaPath:"#/properties/loss/properties/staleAfterMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
}
var valid14 = _errs61 === errors;
}
else {
var valid14 = true;
}
}
}
}
else {
validate26.errors = [{instancePath:instancePath+"/loss",schemaPath:"#/properties/loss/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs56 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.details !== undefined){
let data34 = data.details;
const _errs63 = errors;
if(!(data34 && typeof data34 == "object" && !Array.isArray(data34))){
validate26.errors = [{instancePath:instancePath+"/details",schemaPath:"#/properties/details/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
var valid0 = _errs63 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate26.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate26.errors = vErrors;
return errors === 0;
}
validate26.evaluated = {"props":{"contractVersion":true,"source":true,"sourceEpoch":true,"adapter":true,"epochPolicy":true,"child":true,"capabilities":true,"events":true,"snapshot":true,"loss":true,"details":true},"dynamicProps":false,"dynamicItems":false};
