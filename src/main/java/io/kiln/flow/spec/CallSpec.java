// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.executor.PackedOptions;
import java.util.Optional;

/**
 * How programs call the models, and how models call their operators.
 *
 * @param convention who takes {@code TVMValue}s, and who takes pointers
 * @param systemLib whether packed functions are listed in a system library; only with a packed entry point
 * @param disableAssert whether packed functions leave out the checks of their arguments
 * @param executor what calls the operators in order
 * @param linkParams whether constants lie in the C; otherwise the graph executor loads them
 */
public record CallSpec(
        Convention convention, boolean systemLib, boolean disableAssert, ExecutorKind executor, boolean linkParams) {
    /** With the executor that is generated ahead of time. */
    public CallSpec(Convention convention, boolean systemLib, boolean disableAssert) {
        this(convention, systemLib, disableAssert, ExecutorKind.AOT, true);
    }

    /**
     * The same with another executor. One that finds operators by their names needs a system library, whatever the interface is.
     *
     * @param kind the executor
     * @param linked whether constants lie in the C
     */
    public CallSpec with(ExecutorKind kind, boolean linked) {
        return kind == ExecutorKind.AOT
                ? new CallSpec(convention, systemLib, disableAssert, kind, linked)
                : new CallSpec(Convention.PACKED, true, disableAssert, kind, linked);
    }

    /** The same with the settings of {@code kiln.passConfig}. */
    CallSpec with(PassConfig config) {
        return new CallSpec(
                convention,
                systemLib,
                config.disableAssert().orElse(disableAssert),
                executor,
                config.linkParams().orElse(linkParams));
    }

    /** The typed interface. */
    public static final CallSpec TYPED = new CallSpec(Convention.TYPED, false, false);

    /**
     * As the parameters have it.
     *
     * @param interfaceApi {@code c} or {@code packed}
     * @param unpackedApi whether operators take pointers
     * @param systemLib empty for what suits the interface: a system library with the packed one
     * @throws KilnException if they do not fit together
     */
    static CallSpec of(String interfaceApi, boolean unpackedApi, Optional<Boolean> systemLib, boolean disableAssert) {
        Convention convention = Convention.of(interfaceApi, unpackedApi);
        boolean isPacked = convention.hasPackedEntry();
        if (!isPacked && systemLib.orElse(false)) {
            throw new KilnException(new Problem(
                    "kiln.systemLib is true with kiln.interfaceApi c: a system library lists packed functions, and the"
                            + " C interface has none",
                    "",
                    "a system library with kiln.interfaceApi packed",
                    "Set kiln.interfaceApi to packed, or leave kiln.systemLib out"));
        }
        return new CallSpec(convention, systemLib.orElse(isPacked), disableAssert);
    }

    /**
     * As the compiler takes it.
     *
     * @param alone whether the model is the only one of the image; several share one system library, which is none of theirs
     */
    public PackedOptions options(boolean alone) {
        return new PackedOptions(systemLib && alone, !disableAssert);
    }
}
