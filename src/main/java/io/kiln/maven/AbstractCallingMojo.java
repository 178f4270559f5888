// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BuildSpecBuilder;
import io.kiln.flow.spec.CodegenSpec;
import io.kiln.flow.spec.PipelineSpec;
import java.io.File;
import java.util.Map;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;

/** The parameters that say what code the models of an image become, and how programs call it. */
abstract class AbstractCallingMojo extends AbstractVerifyingMojo {
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

    /**
     * The target of the compiler instead of the board's, for the same core: {@code llvm …} for objects that the bundled clang makes, {@code c …}
     * for C; the kind alone takes the options of the board's target. With other code generators before the host's it is a composite,
     * such as {@code cmsis-nn -mcpu=cortex-m55, c -mcpu=cortex-m55}: they take operators in this order, and the host gets the rest.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.target")
    private String target;

    /**
     * The folder of CMSIS-NN's sources, with {@code Include} and {@code Source}, for targets that name {@code cmsis-nn}. Only what models
     * call is compiled.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.cmsisNn")
    private File cmsisNn;

    /** The same with what generates code. */
    final PipelineSpec withCodegens(PipelineSpec pipeline) {
        return pipeline.withCodegens(new CodegenSpec(
                Optional.ofNullable(target), Optional.ofNullable(cmsisNn).map(File::toPath)));
    }

    /**
     * The most bytes of a board's memory that the models may take, by the memory's name: {@code <memory><sram>96K</sram></memory>}, or as the
     * property {@code kiln.memory.sram}. Only memories that the board names as pools have limits.
     *
     * @since 0.1.0
     */
    @Parameter
    private Map<String, String> memory;

    /** The limits of memories, as texts. */
    final Map<String, String> memoryLimits() {
        return MemoryLimits.of(session(), project(), memory == null ? Map.of() : memory);
    }

    /** Sets how programs call the models. */
    final void calls(BuildSpecBuilder build) {
        build.calls(Optional.ofNullable(interfaceApi), unpackedApi, Optional.ofNullable(systemLib), disableAssert);
        build.executor(executor, linkParams);
    }
}
