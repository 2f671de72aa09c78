import { useState } from "react";
import { Button } from "./Button";
import { TextField, type TextFieldProps } from "./TextField";

/** A password, hidden unless the reviewer asks to see what was typed. */
export function PasswordField(props: Omit<TextFieldProps, "type" | "children">) {
  const [shown, setShown] = useState(false);
  return (
    <TextField {...props} type={shown ? "text" : "password"}>
      <Button
        onPress={() => setShown(!shown)}
        aria-pressed={shown}
        aria-label={`Show the ${props.label.toLowerCase()}`}
        data-testid={`${props.name}-show`}
      >
        {shown ? "Hide" : "Show"}
      </Button>
    </TextField>
  );
}
