// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.executor.PlannedModule.PackedOptions;
import java.util.Optional;

/**
 * How programs call the models, and how models call their operators.
 *
 * @param convention who takes {@code TVMValue}s, and who takes pointers
 * @param packed options of functions with the packed signature; a system library needs a packed entry point
 * @param io who owns inputs and outputs
 * @param executor what calls the operators in order
 * @param linkParams whether constants lie in the C; otherwise the graph executor loads them
 */
public record CallOptions(
        Convention convention, PackedOptions packed, Io io, ExecutorKind executor, boolean linkParams) {
    /** The typed interface of the ahead-of-time executor, with inputs and outputs of the caller. */
    public static final CallOptions TYPED =
            new CallOptions(Convention.TYPED, new PackedOptions(false, true), Io.CALLER, ExecutorKind.AOT, true);

    private static final String WHERE = "compile request";

    /**
     * As the parameters have it, with the ahead-of-time executor.
     *
     * @param interfaceApi {@code c} or {@code packed}
     * @param unpackedApi whether operators take pointers
     * @param systemLib empty for what suits the interface: a system library with the packed one
     * @param disableAssert whether packed functions leave out the checks of their arguments
     * @throws KilnException if they do not fit together
     */
    public static CallOptions of(
            String interfaceApi, boolean unpackedApi, Optional<Boolean> systemLib, boolean disableAssert) {
        Convention convention = Convention.of(interfaceApi, unpackedApi);
        boolean isPacked = convention.hasPackedEntry();
        if (!isPacked && systemLib.orElse(false)) {
            throw Failure.CONFIG.exception(
                    "kiln.systemLib is true with kiln.interfaceApi c: a system library lists packed functions, and the"
                            + " C interface has none",
                    "",
                    "a system library with kiln.interfaceApi packed",
                    "Set kiln.interfaceApi to packed, or leave kiln.systemLib out");
        }
        return TYPED.with(convention).with(new PackedOptions(systemLib.orElse(isPacked), !disableAssert));
    }

    public CallOptions with(Convention other) {
        return new CallOptions(other, packed, io, executor, linkParams);
    }

    /** The same with other packed functions. */
    public CallOptions with(PackedOptions other) {
        return new CallOptions(convention, other, io, executor, linkParams);
    }

    /** The same with another owner of inputs and outputs. */
    public CallOptions with(Io other) {
        return new CallOptions(convention, packed, other, executor, linkParams);
    }

    /**
     * The same with another executor. One that finds operators by their names needs a system library, whatever the interface is.
     *
     * @param kind the executor
     * @param linked whether constants lie in the C
     */
    public CallOptions with(ExecutorKind kind, boolean linked) {
        return kind == ExecutorKind.AOT
                ? new CallOptions(convention, packed, io, kind, linked)
                : new CallOptions(Convention.PACKED, new PackedOptions(true, packed.checked()), io, kind, linked);
    }

    /** Finds choices that exclude each other. */
    void check(Problems problems) {
        if (convention.hasPackedEntry() && io == Io.WORKSPACE) {
            problems.add(
                    "kiln.io is workspace with kiln.interfaceApi packed: packed functions take each tensor by itself",
                    WHERE,
                    "kiln.io caller, or kiln.interfaceApi c",
                    "Leave kiln.io out");
        }
        if (executor != ExecutorKind.AOT && io == Io.WORKSPACE) {
            problems.add(
                    "kiln.io is workspace with kiln.executor " + executor.text()
                            + ": operators that are found by their names take each tensor by itself",
                    WHERE,
                    "kiln.io caller, or kiln.executor aot",
                    "Leave kiln.io out");
        }
        if (executor == ExecutorKind.AOT && !linkParams) {
            problems.add(
                    "kiln.linkParams is false with kiln.executor aot: its main function passes no parameters",
                    WHERE,
                    "kiln.linkParams true, or kiln.executor graph",
                    "Leave kiln.linkParams out, or set kiln.executor to graph");
        }
    }
}
