// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.compile.ReadOptions;
import io.kiln.compile.ReadOptions.UserFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/** {@code <customOperators>} and {@code kiln.customOperators}: C functions of the user that compute operators. */
public final class OperatorFunctions {
    private static final List<String> NAMES =
            List.of("code", "function", "header", "shape", "quantization", "options", "reference");

    private OperatorFunctions() {}

    /**
     * The options with the custom operators.
     *
     * @param given the XML element; empty if the user does not set it, or the goal does not declare it
     */
    public static ReadOptions in(ReadOptions options, GoalParameters parameters, Optional<PlexusConfiguration> given) {
        List<UserFunction> functions = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        given.or(() -> parameters.element("customOperators")).ifPresent(xml -> {
            for (PlexusConfiguration each : xml.getChildren()) {
                functions.add(function(each));
            }
            lines.add(xml.getChildCount() == 0 ? xml.getValue("") : "");
        });
        lines.add(parameters
                .element("customOperatorsText")
                .map(xml -> xml.getValue(""))
                .or(() -> parameters.property("kiln.customOperators"))
                .orElse(""));
        lines.removeIf(String::isBlank);
        return options.with(functions, String.join(";", lines));
    }

    private static UserFunction function(PlexusConfiguration xml) {
        for (PlexusConfiguration child : xml.getChildren()) {
            if (!NAMES.contains(child.getName())) {
                throw new KilnException(Failure.CONFIG.problem(
                        "a custom operator has no element <" + child.getName() + ">",
                        "<customOperators>",
                        String.join(", ", NAMES),
                        NearMiss.didYouMean(child.getName(), NAMES)));
            }
        }
        return new UserFunction(
                text(xml, "code"),
                text(xml, "function"),
                text(xml, "header"),
                text(xml, "shape"),
                Boolean.parseBoolean(text(xml, "quantization")),
                Boolean.parseBoolean(text(xml, "options")),
                text(xml, "reference"));
    }

    private static String text(PlexusConfiguration xml, String name) {
        return xml.getChild(name).getValue("").strip();
    }
}
