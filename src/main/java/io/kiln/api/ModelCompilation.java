// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import io.kiln.base.Optimize;
import io.kiln.compile.CodeTarget;
import io.kiln.compile.CompileOptions;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompileRequest.ModelInput;
import io.kiln.compile.ModelCompiler;
import io.kiln.flow.state.PluginVersion;
import java.nio.file.Path;
import java.util.Optional;

/** A request to compile a model to C, without a board. Its methods change it and return it. */
public final class ModelCompilation {
    private final Path model;
    private String name = "default";
    private String target = "c";
    private Optimization optimization = Optimization.SPEED;

    private ModelCompilation(Path model) {
        this.model = model;
    }

    /**
     * A request with all defaults: named {@code default}, in C for any core, for speed.
     *
     * @param model a file of TensorFlow Lite, ONNX or Relay
     * @return the request
     */
    public static ModelCompilation of(Path model) {
        return new ModelCompilation(model);
    }

    /**
     * Names the model.
     *
     * @param value as in {@code tvmgen_<name>_run}
     * @return this
     */
    public ModelCompilation name(String value) {
        name = value;
        return this;
    }

    /**
     * Sets what the code is for.
     *
     * @param value such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4}, with other code generators before it
     * @return this
     */
    public ModelCompilation target(String value) {
        target = value;
        return this;
    }

    /**
     * Sets what it is optimized for.
     *
     * @param value the goal
     * @return this
     */
    public ModelCompilation optimize(Optimization value) {
        optimization = value;
        return this;
    }

    /**
     * Compiles the model.
     *
     * @return an archive with this model
     * @throws KilnFailure with all problems of the request and the model
     */
    public ModelArchive compile() {
        return KilnFailure.told(() -> ModelArchive.of(
                ModelCompiler.compile(new CompileRequest(
                                new ModelInput(model, name),
                                CodeTarget.of(target),
                                CompileOptions.DEFAULT.with(Optimize.valueOf(optimization.name())),
                                Optional.empty()))
                        .library(),
                PluginVersion.released()));
    }
}
