// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.compile.CallOptions;
import io.kiln.flow.resolve.ModelArchives;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.CodegenSpec;
import io.kiln.target.TargetKind;

/** Checks that a build's models can be exported. */
final class Exportable {
    private Exportable() {}

    /** Adds the problems that prevent any export of the build's models. */
    static void check(BuildSpec spec, Problems problems) {
        spec.malformed().forEach(problems::add);
        if (spec.models().isEmpty()) {
            problems.add("there is no model to export", "kiln.model", "a model file", "Name one with -Dkiln.model");
        }
        for (ModelSource model : spec.models()) {
            if (ModelArchives.accepts(model.file())) {
                problems.add(
                        "is an archive, whose C was not made for a library",
                        model.file().toString(),
                        "a .tflite, .onnx or .relay model",
                        "Export the model of which the archive was made");
            }
        }
    }

    /** Adds the problems that prevent an export as sources: code that is not C, and other interfaces than the typed one. */
    static void checkIsOfC(BuildSpec spec, Problems problems) {
        CodegenSpec codegens = spec.codegens();
        String target = codegens.target()
                .orElseGet(
                        () -> TargetText.kind(spec.boards().find(spec.board()).target()));
        if (!target.strip().equals(TargetKind.C.text()) || !codegens.externals().isEmpty()) {
            problems.add(
                    "the code is not C alone: the target is '" + target + "', and "
                            + codegens.externals().size()
                            + " chains of operators are computed by functions of your own",
                    "kiln.target, externals",
                    TargetKind.C.text(),
                    "Set -Dkiln.target=c, without externals: the answers are the same");
        }
        if (!spec.calls().equals(CallOptions.TYPED)) {
            problems.add(
                    "a library of C sources has the typed interface of the ahead-of-time executor, with tensors of the caller",
                    "kiln.executor, kiln.interfaceApi, kiln.io",
                    "aot, c, caller",
                    "Leave these parameters out");
        }
    }
}
