// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.Optimize;
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

    /**
     * The generator for a target for which {@link #problem} is empty.
     *
     * @param objects makes objects, if there is a compiler for that
     */
    static CodeGenerator of(Target target, Optional<ObjectCompiler> objects, Optimize optimize) {
        return switch (target.kind()) {
            case C -> new CGenerator();
            case LLVM -> new LlvmGenerator(objects.orElseThrow(), optimize);
            case CMSIS_NN -> throw new IllegalArgumentException("no code generator for " + target);
        };
    }

    /** The problem of a target for which no code can be generated. */
    static Optional<Problem> problem(Target target, Optional<ObjectCompiler> objects) {
        return switch (target.kind()) {
            case C -> Optional.empty();
            case LLVM ->
                objects.isPresent()
                        ? Optional.empty()
                        : Optional.of(new Problem(
                                "code for targets of kind `llvm` cannot be generated: there is no compiler that makes objects",
                                "target `" + target.text() + "`",
                                "a compile request with an ObjectCompiler",
                                "Give one, or begin the target with c: " + ofC(target)));
            case CMSIS_NN ->
                Optional.of(new Problem(
                        "code for targets of kind `" + target.kind().text() + "` cannot be generated",
                        "target `" + target.text() + "`",
                        "the kind " + TargetText.HOSTS,
                        "Begin the target with c: " + ofC(target)));
        };
    }

    private static String ofC(Target target) {
        return new Target(TargetKind.C, target.keys(), target.attributes()).text();
    }
}
