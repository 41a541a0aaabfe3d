// The routes, as openapi.json describes them.

const schema = await (await fetch("/openapi.json")).json();

// A text in which `this` is code.
function element(name, text = "", ...children) {
  const made = document.createElement(name);
  text.split("`").forEach((part, i) => made.append(i % 2 ? element("code", part) : part));
  made.append(...children);
  return made;
}

const named = (part) => (part?.$ref ? schema.components.schemas[part.$ref.split("/").pop()] : part);

function typeOf(part) {
  if (part.anyOf) return part.anyOf.map(typeOf).join(" or ");
  if (part.$ref) return "object";
  if (part.type === "array") return `list of ${typeOf(part.items ?? {})}`;
  return part.enum ? part.enum.join(" | ") : (part.const ?? part.type ?? "anything");
}

function fieldsOf(body, isSent = false) {
  const whole = named(body);
  const list = element("ul");
  for (const [name, part] of Object.entries(whole?.properties ?? {})) {
    const isWanted = isSent && whole.required?.includes(name) ? ", wanted" : "";
    const says = part.description ? `. ${part.description}` : "";
    const line = element("li", `\`${name}\`: ${typeOf(part)}${isWanted}${says}`);
    const inner = named(part.items ?? part.anyOf?.find((one) => one.items)?.items);
    if (inner?.properties && inner !== whole) line.append(fieldsOf(inner, isSent));
    list.append(line);
  }
  return list;
}

const main = document.getElementById("routes");
main.append(element("p", schema.info.description));
for (const [path, methods] of Object.entries(schema.paths)) {
  for (const [method, route] of Object.entries(methods)) {
    main.append(element("h2", "", element("code", `${method.toUpperCase()} ${path}`)));
    main.append(element("p", route.description ?? ""));
    for (const one of route.parameters ?? []) {
      main.append(element("p", `\`?${one.name}=\` ${typeOf(one.schema)}. ${one.description ?? ""}`));
    }
    const sent = route.requestBody?.content["application/json"].schema;
    if (sent) main.append(element("h3", "It takes"), fieldsOf(sent, true));
    const back = route.responses["200"]?.content?.["application/json"]?.schema;
    if (back?.$ref || back?.items?.$ref) main.append(element("h3", "It gives"), fieldsOf(back.items ?? back));
  }
}
