// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Log;
import io.kiln.flow.spec.CodegenSpec;
import io.kiln.partition.UserFunctions;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** C functions of the user that no model calls: their chains of operators occur nowhere. */
final class UnusedFunctions {
    private UnusedFunctions() {}

    /** Warns of each one. */
    static void say(CodegenSpec codegens, List<ModelLibrary> libraries, Log log) {
        Set<String> used = libraries.stream()
                .flatMap(library -> library.metadata().operators().stream())
                .map(operator -> operator.choice().codegen().composite())
                .collect(Collectors.toSet());
        codegens.externals().stream()
                .filter(external -> !used.contains(UserFunctions.NAME + "." + external.name()))
                .forEach(external ->
                        log.warn("`" + external.name() + "` of <externals> takes no operators: no model has `"
                                + String.join(" ", external.operators())
                                + "`, or a code generator before it takes them. -Dkiln.dumpIr shows the operators"));
    }
}
