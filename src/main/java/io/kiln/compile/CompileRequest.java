// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.CNames;
import io.kiln.artifact.ModelIdentity;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.frontend.InputShapes;
import io.kiln.quantize.QuantizeOptions.QuantizeRequest;
import io.kiln.tuning.record.HistoryBest;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A request to the compiler. It can only be made without errors, as far as they do not depend on the model.
 *
 * @param target what its code is for
 * @param options the user's choices
 * @param slim whether the archive omits the constants' data, which the C has anyway
 * @param quantize how the model is quantized first; empty for a model that is compiled as it is
 * @param records tuning records, which override the rules that choose schedules
 */
public record CompileRequest(
        ModelInput model,
        CodeTarget target,
        CompileOptions options,
        boolean slim,
        Optional<QuantizeRequest> quantize,
        HistoryBest records) {
    public CompileRequest {
        Problems problems = new Problems(Failure.CONFIG);
        CNames.modelNameProblem(model.name(), "kiln.name").ifPresent(problems::add);
        CodeGenerators.problem(target).ifPresent(problems::add);
        target.pools().check(problems);
        options.calls().check(problems);
        options.passes().check(problems);
        problems.throwIfAny();
    }

    /** A request without tuning records, whose archive is complete. */
    public CompileRequest(
            ModelInput model, CodeTarget target, CompileOptions options, Optional<QuantizeRequest> quantize) {
        this(model, target, options, false, quantize, HistoryBest.NONE);
    }

    /** How programs call the model, and how it calls its operators. */
    public CallOptions calls() {
        return options.calls();
    }

    /**
     * A model to compile.
     *
     * @param file the model file
     * @param name module name; {@code default} is microTVM's
     * @param identity what the image states about the model file
     * @param shapes shapes of inputs that replace the file's
     */
    public record ModelInput(Path file, String name, ModelIdentity identity, InputShapes shapes) {
        /** A model with the shapes of its file, about which the image states nothing. */
        public ModelInput(Path file, String name) {
            this(file, name, ModelIdentity.UNKNOWN, InputShapes.NONE);
        }
    }
}
