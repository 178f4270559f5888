// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.Problem;
import io.kiln.codegen.CodeGenerator;
import io.kiln.codegen.c.CGenerator;
import io.kiln.target.Target;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** All code generators. To add one, add it to the list. */
final class CodeGenerators {
    private static final List<CodeGenerator> ALL = List.of(new CGenerator());

    private CodeGenerators() {}

    /** The generator for a target for which {@link #problem} is empty. */
    static CodeGenerator of(Target target) {
        return find(target).orElseThrow(() -> new IllegalArgumentException("no code generator for " + target));
    }

    /** The problem of a target without a code generator. */
    static Optional<Problem> problem(Target target) {
        if (find(target).isPresent()) {
            return Optional.empty();
        }
        String kinds = ALL.stream().map(generator -> generator.kind().text()).collect(Collectors.joining(" or "));
        Target suggestion = new Target(ALL.get(0).kind(), target.keys(), target.attributes());
        return Optional.of(new Problem(
                "code for targets of kind `" + target.kind().text() + "` cannot be generated",
                "target `" + target.text() + "`",
                "the kind " + kinds,
                "Begin the target with " + suggestion.kind().text() + ": " + suggestion.text()));
    }

    private static Optional<CodeGenerator> find(Target target) {
        return ALL.stream()
                .filter(generator -> generator.kind() == target.kind())
                .findFirst();
    }
}
