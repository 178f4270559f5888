// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ObjectCompiler;
import io.kiln.partition.Externals;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.List;
import java.util.Optional;

/**
 * What the code of a model is for.
 *
 * @param externals the whole target, and the code generators beside Kiln's own
 * @param pools the memories that the model may use
 * @param objects the compiler of objects, for targets of kind llvm
 */
public record CodeTarget(Externals externals, MemoryPools pools, Optional<ObjectCompiler> objects) {
    /**
     * A target with one memory for the workspace and one for constants.
     *
     * @param text such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4}, or a composite one
     * @param objects the compiler of objects, for targets of kind llvm
     * @throws io.kiln.base.KilnException with all errors of the text
     */
    public static CodeTarget of(String text, Optional<ObjectCompiler> objects) {
        return new CodeTarget(Externals.of(CompositeTarget.parse(text), List.of()), MemoryPools.GLOBAL, objects);
    }

    /** A target of kind c. */
    public static CodeTarget of(String text) {
        return of(text, Optional.empty());
    }

    /** The target of Kiln's own code generator. */
    public Target host() {
        return externals.target().host();
    }
}
