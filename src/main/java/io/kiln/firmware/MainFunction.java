// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * Finds out whether the project's own sources define {@code main}. The source text decides which application is built;
 * a {@code main} made by the preprocessor is found only in the objects, and such a program is refused.
 */
final class MainFunction {
    private static final String NAME = "main";

    private static final Pattern IN_C = Pattern.compile("\\bmain\\s*\\([^;{}()]*\\)[^;{}()]*\\{");

    private static final Pattern IN_ASSEMBLER = Pattern.compile("(?m)(?:^|;)\\s*main\\s*:");

    private MainFunction() {}

    /**
     * Whether a source defines it. Comments, strings and mere declarations do not count.
     *
     * @param name the source's name, which tells whether it is C, C++ or assembler
     */
    static boolean isDefinedIn(String name, String source) {
        return (name.endsWith(".c") || UserFile.isCplusplus(name) ? IN_C : IN_ASSEMBLER)
                .matcher(SourceText.code(source))
                .find();
    }

    /**
     * Checks the objects against the decision made from the text.
     *
     * @throws KilnException if an object of the project's own defines {@code main} beside the default application's
     */
    static void check(CompiledObjects objects) {
        FirmwareProject project = objects.project();
        if (!project.hasDefaultApplication()) {
            return;
        }
        for (SourceUnit unit : project.units()) {
            if (unit.kind().isUsers() && defines(objects.files().get(unit.path()))) {
                throw Failure.CODE.exception(
                        "this source defines `main`, but not in a form that Kiln recognises: it uses a macro, a header"
                                + " or unusual punctuation. Kiln would build the default application instead",
                        unit.path(),
                        "int main(void) { in a .c file, or main: in a .S file",
                        "Write the definition there without macros");
            }
        }
    }

    /**
     * Whether an object defines {@code main}. Objects for this computer may have another format; its linker itself finds two
     * functions of one name.
     */
    private static boolean defines(Path object) {
        return ElfFile.isElf(object)
                && ElfFile.read(object).symbols().stream()
                        .anyMatch(symbol -> symbol.name().equals(NAME) && symbol.section() != 0);
    }
}
