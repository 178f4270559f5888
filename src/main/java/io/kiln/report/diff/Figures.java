// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.diff;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The numbers in a build's reports. Reports of other versions of Kiln may lack some of them.
 *
 * @param totals by name, such as {@code flash}, {@code flash.text} or {@code instructions}, in order
 * @param operators those of each operator by the operator's name: {@code instructions}, {@code cycles}, {@code macs}, {@code
 *     constantBytes}, {@code workspaceBytes}; in execution order
 * @param tensors inputs and outputs of all operators that no other operator has, as text
 * @param cases mismatches of each case that was verified, by its name
 */
public record Figures(
        Map<String, Long> totals,
        Map<String, Map<String, Long>> operators,
        List<String> tensors,
        Map<String, Long> cases) {
    /** The figures of a build of which nothing is known. */
    public static final Figures NONE = new Figures(Map.of(), Map.of(), List.of(), Map.of());

    /** The build's report. */
    public static final String REPORT = "report.json";

    private static final String PROFILE = "profile.json";
    private static final String VERIFY = "verify.json";
    private static final String TOTAL = "total";
    private static final long LARGEST_FILE = 64 << 20;
    private static final List<String> MEASURED = List.of("instructions", "cycles");
    private static final List<String> OF_OPERATORS =
            List.of("instructions", "cycles", "macs", "constantBytes", "workspaceBytes");
    private static final List<String> NOT_ADDED = List.of(TOTAL, "available");

    /** Totals and operators, without unknown figures. */
    public Figures {
        totals = copy(totals);
        operators = copy(operators);
        tensors = List.copyOf(tensors);
        cases = copy(cases);
    }

    private static <V> Map<String, V> copy(Map<String, V> map) {
        return Collections.unmodifiableMap(new LinkedHashMap<>(map));
    }

    /**
     * Reads {@code report.json}, and {@code profile.json} and {@code verify.json} if they lie beside it.
     *
     * @throws KilnException if a file cannot be read, or is not such a report
     */
    public static Figures read(Path report) {
        JsonNode built = json(report);
        if (!built.path("flash").isObject() || !built.path("ram").isObject()) {
            throw Failure.BUDGET.exception(
                    "is not a report of a build",
                    report.toString(),
                    "a report.json that kiln:link wrote",
                    "Name the file, or the folder that holds it");
        }
        Map<String, Long> totals = new LinkedHashMap<>();
        memory(totals, "flash", built.path("flash"));
        memory(totals, "ram", built.path("ram"));
        number(totals, "macs", built.path("macs"));
        number(totals, "executedMacs", built.path("executedMacs"));
        JsonNode profile = beside(report, PROFILE);
        MEASURED.forEach(name -> number(totals, name, measured(profile.path(name))));
        Map<String, Map<String, Long>> operators = new LinkedHashMap<>();
        for (JsonNode operator : built.path("operators")) {
            Map<String, Long> figures = new LinkedHashMap<>();
            OF_OPERATORS.forEach(name -> number(figures, name, measured(operator.path(name))));
            operators.put(operator.path("name").asText(), figures);
        }
        Map<String, Long> cases = new LinkedHashMap<>();
        beside(report, VERIFY)
                .path("cases")
                .forEach(each -> number(cases, each.path("name").asText(), each.path("mismatches")));
        return new Figures(totals, operators, tensors(built.path("operators")), cases);
    }

    private static void memory(Map<String, Long> totals, String name, JsonNode memory) {
        number(totals, name, memory.path(TOTAL));
        memory.fieldNames().forEachRemaining(part -> {
            if (!NOT_ADDED.contains(part)) {
                number(totals, name + "." + part, memory.path(part));
            }
        });
    }

    /** The number of a JSON value: itself, or the expected one of a range. */
    private static JsonNode measured(JsonNode value) {
        return value.isObject() ? value.path("expected") : value;
    }

    private static void number(Map<String, Long> figures, String name, JsonNode value) {
        if (value.isNumber()) {
            figures.put(name, value.asLong());
        }
    }

    private static List<String> tensors(JsonNode operators) {
        Set<String> read = new LinkedHashSet<>();
        Set<String> written = new LinkedHashSet<>();
        for (JsonNode operator : operators) {
            operator.path("inputs").forEach(tensor -> read.add(text(tensor)));
            operator.path("outputs").forEach(tensor -> written.add(text(tensor)));
        }
        List<String> border = new ArrayList<>();
        read.stream().filter(t -> !written.contains(t)).forEach(t -> border.add("input " + t));
        written.stream().filter(t -> !read.contains(t)).forEach(t -> border.add("output " + t));
        return border;
    }

    private static String text(JsonNode tensor) {
        return tensor.path("name").asText() + " " + tensor.path("dtype").asText() + tensor.path("shape");
    }

    private static JsonNode beside(Path report, String name) {
        Path file = report.resolveSibling(name);
        return Files.isRegularFile(file) ? json(file) : MissingNode.getInstance();
    }

    private static JsonNode json(Path file) {
        try {
            if (Files.size(file) > LARGEST_FILE) {
                throw Failure.BUDGET.exception("is too large", file.toString(), "at most 64 MiB");
            }
            return new ObjectMapper().readTree(Files.readAllBytes(file));
        } catch (JsonProcessingException e) {
            throw Failure.BUDGET.exception("is not JSON", file.toString(), "a report of Kiln");
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }
}
