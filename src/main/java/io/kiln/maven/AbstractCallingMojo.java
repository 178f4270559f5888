// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BuildSpecBuilder;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;

/** The parameters that say how programs call the models of an image. */
abstract class AbstractCallingMojo extends AbstractCompilingMojo {
    /**
     * How programs call a model: {@code c}, a header with structs of typed members, or {@code packed}, microTVM's packed functions. If not
     * set, {@code packed} with {@code kiln.application} {@code rpc}, else {@code c}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.interfaceApi")
    private String interfaceApi;

    /**
     * Whether operators take pointers; if not, operators are packed functions, too, which needs {@code kiln.interfaceApi} {@code packed}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.unpackedApi", defaultValue = "true")
    private boolean unpackedApi;

    /**
     * Whether packed functions are listed in a system library, where the C runtime finds them by their names. If not set, they are listed
     * with {@code kiln.interfaceApi} {@code packed}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.systemLib")
    private Boolean systemLib;

    /**
     * Whether packed functions leave out the checks of their arguments.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.disableAssert", defaultValue = "false")
    private boolean disableAssert;

    /**
     * What calls a model's operators in order: {@code aot}, a C function generated ahead of time; {@code graph}, an executor of the C
     * runtime that walks a graph; or {@code none}: the operators stand for themselves, each to be called by its name.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.executor", defaultValue = "aot")
    private String executor;

    /**
     * Whether constants lie in the C. If not, they are parameters in a file of their own, which {@code kiln.executor} {@code graph} loads.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.linkParams", defaultValue = "true")
    private boolean linkParams;

    /** Sets how programs call the models. */
    final void calls(BuildSpecBuilder build) {
        build.calls(Optional.ofNullable(interfaceApi), unpackedApi, Optional.ofNullable(systemLib), disableAssert);
        build.executor(executor, linkParams);
    }
}
