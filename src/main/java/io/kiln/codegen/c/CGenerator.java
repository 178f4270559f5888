// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.codegen.CodeGenerator;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.target.TargetKind;
import java.util.List;
import java.util.Locale;

/** Generates C: one source file for each unit, and a header if something of it is copied to RAM. */
public final class CGenerator implements CodeGenerator {
    /** The {@link Artifact#codegenId} of all C that Kiln prints. */
    static final String ID = TargetKind.C.text();

    @Override
    public List<Artifact> generate(CodeUnit unit) {
        Artifact source = artifact(ArtifactKind.SOURCE, unit.name() + ".c", OperatorFilePrinter.print(unit));
        return unit.ram()
                .header()
                .map(header -> List.of(source, RamHeader.of(unit.origin(), header)))
                .orElseGet(() -> List.of(source));
    }

    static Artifact artifact(ArtifactKind kind, String fileName, String text) {
        return Artifact.ofText(ID, kind, fileName, text);
    }

    /**
     * The header of what a program copies to RAM when it starts: macros that put functions and tables into sections of their own, for linker scripts
     * to place. They say nothing where they are defined before, and on computers, whose programs lie in RAM anyway.
     */
    static final class RamHeader {
        private static final String CODE = "KILN_RAMFUNC";
        private static final String CONSTANTS = "KILN_RAMDATA";

        private RamHeader() {}

        /** What stands before a function. */
        static String code(String function) {
            return CODE + "(" + function + ")";
        }

        /** What stands before a table's name. */
        static String constants(String table) {
            return CONSTANTS + "(" + table + ")";
        }

        static Artifact of(CodeOrigin origin, String name) {
            String text = String.format(
                    Locale.ROOT,
                    """
                    #ifndef KILN_RAM_SECTIONS_
                    #define KILN_RAM_SECTIONS_

                    /* Functions in %1$s.<name> and constants in %2$s.<name> run and are read from RAM: the linker script places them there,
                       and the start-up code copies them, like variables with initial values. Define KILN_NO_RAM_SECTIONS to leave all in flash. */
                    #if !defined(KILN_NO_RAM_SECTIONS) && defined(__ELF__) && (defined(__arm__) || defined(__riscv))
                    #define %3$s(name) __attribute__((section("%1$s." #name), noinline))
                    #define %4$s(name) __attribute__((section("%2$s." #name)))
                    #else
                    #define %3$s(name)
                    #define %4$s(name) __attribute__((section("%5$s")))
                    #endif

                    #endif  // KILN_RAM_SECTIONS_
                    """,
                    InterfaceNames.RAM_CODE_SECTION,
                    InterfaceNames.RAM_CONSTANTS_SECTION,
                    CODE,
                    CONSTANTS,
                    InterfaceNames.CONSTANTS_SECTION);
            return CGenerator.artifact(ArtifactKind.HEADER, name, CFilePrinter.head(origin) + text);
        }
    }
}
