// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Failure;
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
                functions.add(function(each, parameters));
            }
            lines.add(xml.getChildCount() == 0 ? parameters.value(xml) : "");
        });
        lines.add(parameters
                .element("customOperatorsText")
                .map(parameters::value)
                .filter(text -> !text.isEmpty())
                .or(() -> parameters.property("kiln.customOperators"))
                .orElse(""));
        lines.removeIf(String::isBlank);
        return options.with(functions, String.join(";", lines));
    }

    private static UserFunction function(PlexusConfiguration xml, GoalParameters parameters) {
        for (PlexusConfiguration child : xml.getChildren()) {
            if (!NAMES.contains(child.getName())) {
                throw Failure.CONFIG.exception(
                        "a custom operator has no element <" + child.getName() + ">",
                        "<customOperators>",
                        String.join(", ", NAMES),
                        NearMiss.didYouMean(child.getName(), NAMES));
            }
        }
        return new UserFunction(
                parameters.value(xml.getChild("code")),
                parameters.value(xml.getChild("function")),
                parameters.value(xml.getChild("header")),
                parameters.value(xml.getChild("shape")),
                Boolean.parseBoolean(parameters.value(xml.getChild("quantization"))),
                Boolean.parseBoolean(parameters.value(xml.getChild("options"))),
                parameters.value(xml.getChild("reference")));
    }
}
