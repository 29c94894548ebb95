import { render } from "preact";
import { BoardApp } from "./app.tsx";
import "./board.css";
import { LifecycleClient } from "../src/client/lifecycle-client.ts";
import { browserAddress } from "./model/address.ts";
import { forgetToken, readToken, rememberToken } from "./model/tab-token.ts";

const client = new LifecycleClient({ url: location.origin, token: readToken });
const place = document.getElementById("board");
if (place !== null)
  render(
    <BoardApp client={client} address={browserAddress()} token={{ readToken, rememberToken, forgetToken }} />,
    place,
  );
