// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What to do with a project of somebody else's Project API server.
 *
 * @param directory the project's folder
 * @param template the folder of the template to generate it from; empty if it exists already
 * @param runtime the C runtime to generate it with; empty for Kiln's own
 * @param options the user's values of the server's options, by name
 * @param flash whether to flash the board after the build
 * @param limit longest time for each of generating, building and flashing
 */
public record ProjectSpec(
        Path directory,
        Optional<Path> template,
        Optional<Path> runtime,
        Map<String, String> options,
        boolean flash,
        Duration limit) {
    /** The comma between two options; a comma belongs to a value unless another option follows it. */
    private static final Pattern NEXT = Pattern.compile(",(?=\\s*[A-Za-z_][A-Za-z0-9_]*=)");

    public ProjectSpec {
        options = Map.copyOf(options);
    }

    /**
     * Reads options: {@code name=value}, separated by commas.
     *
     * @throws KilnException naming each part that is not an option, and each option given twice
     */
    public static Map<String, String> options(String text) {
        Map<String, String> options = new TreeMap<>();
        Problems problems = new Problems(Failure.CONFIG);
        for (String part : NEXT.split(text.strip(), -1)) {
            String option = part.strip();
            int sign = option.indexOf('=');
            if (option.isEmpty()) {
                continue;
            }
            if (sign <= 0) {
                problems.add("'" + option + "' is not an option", "kiln.project.options", "name=value");
            } else if (options.putIfAbsent(option.substring(0, sign), option.substring(sign + 1)) != null) {
                problems.add("'" + option + "' is a second value", "kiln.project.options", "one for each name");
            }
        }
        problems.throwIfAny();
        return options;
    }
}
