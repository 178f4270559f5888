// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.base.TargetText;
import io.kiln.codegen.CodeGenerator;
import io.kiln.codegen.c.CGenerator;
import io.kiln.codegen.llvm.LlvmGenerator;
import io.kiln.target.Target;
import io.kiln.target.TargetKind;
import java.util.Optional;

/** All code generators, by {@link TargetKind}. */
final class CodeGenerators {
    private CodeGenerators() {}

    /** The generator for a target for which {@link #problem} is empty. */
    static CodeGenerator of(CodeTarget target, CompileOptions options) {
        return switch (target.host().kind()) {
            case C -> new CGenerator();
            case LLVM -> new LlvmGenerator(target.objects().orElseThrow(), options.optimize());
            case CMSIS_NN -> throw new IllegalArgumentException("no code generator for " + target.host());
        };
    }

    /** The problem of a target for which no code can be generated. */
    static Optional<Problem> problem(CodeTarget target) {
        Target host = target.host();
        return switch (host.kind()) {
            case C -> Optional.empty();
            case LLVM ->
                target.objects().isPresent()
                        ? Optional.empty()
                        : Optional.of(Failure.TARGET.problem(
                                "code for targets of kind `llvm` cannot be generated: there is no compiler that makes objects",
                                "target `" + host.text() + "`",
                                "a compile request with an ObjectCompiler",
                                "Give one, or begin the target with c: " + ofC(host)));
            case CMSIS_NN ->
                Optional.of(Failure.TARGET.problem(
                        "code for targets of kind `" + host.kind().text() + "` cannot be generated",
                        "target `" + host.text() + "`",
                        "the kind " + TargetText.HOSTS,
                        "Begin the target with c: " + ofC(host)));
        };
    }

    private static String ofC(Target target) {
        return new Target(TargetKind.C, target.keys(), target.attributes()).text();
    }
}
