import { Button } from "./Button";
import { copyText } from "./copy";
import { complain, say } from "./toast-store";

interface CopyButtonProps {
  /** What is copied, as the button and the message say it. */
  what: string;
  text: string;
  /** What the button reads; its spoken name begins with it. */
  children?: string;
  look?: "plain" | "quiet";
  "data-testid"?: string;
}

/** Copies a text, and says so. */
export function CopyButton({ what, text, children = "Copy", look = "quiet", ...rest }: CopyButtonProps) {
  const copy = async () => {
    if (await copyText(text)) say(`Copied the ${what}`);
    else complain(`The ${what} could not be copied: select it and copy it yourself.`);
  };
  return (
    <Button
      {...rest}
      look={look}
      aria-label={children === "Copy" ? `Copy the ${what}` : `${children}: ${what}`}
      onPress={() => void copy()}
    >
      {children}
    </Button>
  );
}
