// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen;

import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import java.util.List;
import java.util.Optional;

/**
 * Functions of the loop IR for one code generator.
 *
 * @param origin for the comment at the head of files, and for the target of artifacts
 * @param name of its files, without their endings
 * @param statics memory that the functions keep from run to run
 * @param functions with their tables; calls go to functions that come before
 * @param packed those among them that have the packed signature
 * @param scratch memory that one of them uses while it runs, and that all share
 */
public record CodeUnit(
        CodeOrigin origin,
        String name,
        List<Buffer> statics,
        List<PrimFunc> functions,
        PackedApi packed,
        Optional<Scratch> scratch) {
    /**
     * Memory without initial values.
     *
     * @param memory its name and size
     * @param alignment in bytes
     */
    public record Scratch(Buffer memory, int alignment) {}

    public CodeUnit {
        statics = List.copyOf(statics);
        functions = List.copyOf(functions);
    }

    /** A unit whose functions all take pointers. */
    public CodeUnit(CodeOrigin origin, String name, List<Buffer> statics, List<PrimFunc> functions) {
        this(origin, name, statics, functions, PackedApi.NONE);
    }

    /** A unit without shared scratch. */
    public CodeUnit(CodeOrigin origin, String name, List<Buffer> statics, List<PrimFunc> functions, PackedApi packed) {
        this(origin, name, statics, functions, packed, Optional.empty());
    }

    /** The same unit with other functions. */
    public CodeUnit withFunctions(List<PrimFunc> newFunctions) {
        return new CodeUnit(origin, name, statics, newFunctions, packed, scratch);
    }

    /** Bytes of memory that the functions keep from run to run. */
    public long staticBytes() {
        return statics.stream().mapToLong(Buffer::bytes).sum();
    }
}
