// Copies the command or the nodes beside a button.
{
  // How long a button says that it has copied, in milliseconds.
  const SAYS = 2000;

  // Without https a page has no clipboard, but for what is selected.
  function copySelected(text) {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "hidden";
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    return isCopied;
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copySelected(text);
    }
  }

  addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    const source = button && button.previousElementSibling;
    if (!source) return;
    const isCopied = await copy(source.textContent.trim());
    button.focus();
    button.textContent = isCopied ? "Copied" : "Select it";
    button.classList.toggle("done", isCopied);
    setTimeout(() => {
      button.textContent = "Copy";
      button.classList.remove("done");
    }, SAYS);
  });
  document.documentElement.classList.add("scripted");
}
