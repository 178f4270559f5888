// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.Artifact;
import io.kiln.base.Problem;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.List;
import java.util.Optional;

/**
 * A code generator beside Kiln's own. It is found as a service ({@link java.util.ServiceLoader}), for example in a dependency of the plugin,
 * and takes part in a build whose composite target names it: {@code "my-npu -lanes=8, c -mcpu=cortex-m55"}. It must not keep state between
 * calls.
 */
public interface ExternalCodegen {
    /** The code generator's name in targets: a letter, then letters, digits, {@code _} and {@code -}. */
    String name();

    /** The patterns of operators that it takes; earlier patterns take first. */
    List<CompositePattern> patterns(CompositeTarget.External external, Target host);

    /** The errors in its part of the target; empty if there are none. */
    default Optional<Problem> check(CompositeTarget.External external, Target host) {
        return Optional.empty();
    }

    /**
     * Whether its functions run on a device of its own, whose driver's hooks are called around them, see {@link
     * io.kiln.artifact.DeviceHooks}. Its functions then get the device's context as their last argument.
     */
    default boolean hasDevice() {
        return false;
    }

    /**
     * Whether the core itself computes its functions, which then reach the memories that the core reaches. Otherwise their tensors, tables and
     * context lie in memories of the board that name this code generator among their {@code targets}, or no targets at all. The core need not
     * reach them: a function of the core's that starts a device only passes their addresses on.
     */
    default boolean runsOnCore() {
        return false;
    }

    /** The arguments that a call of a function passes. */
    ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host);

    /** C files, and other artifacts, with the definition of each function. */
    List<Artifact> generate(ExternalUnit unit);
}
