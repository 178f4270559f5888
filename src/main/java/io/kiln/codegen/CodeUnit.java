// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen;

import io.kiln.artifact.InterfaceNames;
import io.kiln.target.Target;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Functions of the loop IR for one code generator.
 *
 * @param origin for the comment at the head of files, and for the target of artifacts
 * @param name of its files, without their endings
 * @param statics memory that the functions keep from run to run
 * @param functions with their tables; calls go to functions that come before
 * @param packed those among them that have the packed signature
 * @param scratch memory that one of them uses while it runs, and that all share
 * @param ram what of it is copied to RAM when a program starts; tables say it themselves
 */
public record CodeUnit(
        CodeOrigin origin,
        String name,
        List<Buffer> statics,
        List<PrimFunc> functions,
        PackedApi packed,
        Optional<Scratch> scratch,
        RamSections ram) {
    /**
     * Memory without initial values.
     *
     * @param memory its name and size
     * @param alignment in bytes
     */
    public record Scratch(Buffer memory, int alignment) {}

    /**
     * Sections that a linker script places in RAM and a program copies there when it starts.
     *
     * @param header the file that says how functions and tables get into them; empty if nothing does
     * @param functions functions and micro-kernels, by name, among others
     */
    public record RamSections(Optional<String> header, Set<String> functions) {
        /** All stays where it is linked. */
        public static final RamSections NONE = new RamSections(Optional.empty(), Set.of());

        public RamSections {
            functions = Set.copyOf(functions);
        }
    }

    public CodeUnit {
        statics = List.copyOf(statics);
        functions = List.copyOf(functions);
    }

    /** The linker section of a table that stays where it is linked. A shared one has its own, so that the linker leaves out all but one. */
    public static String section(PrimFunc.Table table) {
        return table.isShared()
                ? InterfaceNames.CONSTANTS_SECTION + "." + table.symbol()
                : table.pool().map(InterfaceNames::constantsSection).orElse(InterfaceNames.CONSTANTS_SECTION);
    }

    /** A unit whose functions all take pointers. */
    public CodeUnit(CodeOrigin origin, String name, List<Buffer> statics, List<PrimFunc> functions) {
        this(origin, name, statics, functions, PackedApi.NONE);
    }

    /** A unit without shared scratch. */
    public CodeUnit(CodeOrigin origin, String name, List<Buffer> statics, List<PrimFunc> functions, PackedApi packed) {
        this(origin, name, statics, functions, packed, Optional.empty(), RamSections.NONE);
    }

    /** The same unit with content that is copied to RAM. */
    public CodeUnit with(RamSections other) {
        return new CodeUnit(origin, name, statics, functions, packed, scratch, other);
    }

    public CodeUnit withFunctions(List<PrimFunc> newFunctions) {
        return new CodeUnit(origin, name, statics, newFunctions, packed, scratch, ram);
    }

    /** Bytes of memory that the functions keep from run to run. */
    public long staticBytes() {
        return statics.stream().mapToLong(Buffer::bytes).sum();
    }

    /**
     * The origin of a generated file.
     *
     * @param source name of the model file
     * @param target the target of the code
     * @param portable whether micro-kernels take their C twins in place of assembly and vendor intrinsics
     */
    public record CodeOrigin(String source, Target target, boolean portable) {
        /** Code whose micro-kernels are those of the target. */
        public CodeOrigin(String source, Target target) {
            this(source, target, false);
        }
    }
}
