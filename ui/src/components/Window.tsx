import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import styles from "./Window.module.css";

interface WindowProps {
  title: string;
  children: React.ReactNode;
  /** Without it the dialog cannot be left by the keyboard or a click. */
  onClose?: () => void;
  wide?: boolean;
  role?: "dialog" | "alertdialog";
  "data-testid": string;
}

/** A modal dialog. A click beside it does nothing: what was entered must not be lost by a slip. */
export function Window({
  title,
  children,
  onClose,
  wide = false,
  role = "dialog",
  "data-testid": testId,
}: WindowProps) {
  return (
    <ModalOverlay
      className={styles.scrim}
      isOpen
      isDismissable={false}
      isKeyboardDismissDisabled={onClose === undefined}
      onOpenChange={(open) => {
        if (!open) onClose?.();
      }}
    >
      <Modal className={`${styles.modal} ${wide ? styles.wide : ""}`}>
        <Dialog role={role} className={styles.dialog} data-window data-testid={testId}>
          <Heading slot="title" className={styles.title}>
            {title}
          </Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
