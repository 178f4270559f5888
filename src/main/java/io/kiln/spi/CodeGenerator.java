// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.List;

/**
 * A code generator beside Kiln's own: it takes some operators of a model, and generates the functions that compute them. A service ({@code
 * META-INF/services/io.kiln.spi.CodeGenerator}) that takes part in builds whose composite target names it. It keeps no state between calls.
 */
public interface CodeGenerator {
    /**
     * Its name in targets.
     *
     * @return a letter, then letters, digits, {@code _} and {@code -}
     */
    String name();

    /**
     * Checks the options of its part of the target, before any model is read. By itself it allows all.
     *
     * @param part its part of the target
     * @throws ExtensionFailure if they are wrong
     */
    default void check(TargetPart part) {}

    /**
     * The chains of operators that it takes.
     *
     * @param part its part of the target
     * @return patterns; earlier ones take first
     */
    List<OperatorPattern> patterns(TargetPart part);

    /**
     * Whether its functions run on a device of its own, whose driver's hooks are called around them. They then get the device's context as
     * their last argument.
     *
     * @return false by itself
     */
    default boolean hasDevice() {
        return false;
    }

    /**
     * Whether the core itself computes its functions, which then reach the memories that the core reaches. Otherwise their tensors, tables and
     * context lie in memories of the board that name this code generator among their {@code targets}, or no targets at all.
     *
     * @return false by itself
     */
    default boolean runsOnCore() {
        return false;
    }

    /**
     * What a call of the function for a chain passes beside the tensors.
     *
     * @param chain operators that match a pattern
     * @param part its part of the target
     * @return tables and memory
     */
    CallArguments call(OperatorChain chain, TargetPart part);

    /**
     * Generates C, and other files, with the definition of each function.
     *
     * @param request the functions of a model
     * @return the files
     */
    List<ArtifactFile> generate(CodeRequest request);
}
