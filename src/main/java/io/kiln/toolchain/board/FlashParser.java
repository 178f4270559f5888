// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.BoardFiles.MergedProfile;
import io.kiln.toolchain.board.Flashing.ChipId;
import io.kiln.toolchain.board.Flashing.OpenOcd;
import io.kiln.toolchain.board.Flashing.Program;
import io.kiln.toolchain.board.Flashing.Programs;
import io.kiln.toolchain.board.Flashing.ProjectApi;
import io.kiln.toolchain.board.RunnerDefinition.Parameter;
import io.kiln.toolchain.board.RunnerDefinition.Runners;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.PatternSyntaxException;

/** Parses the key {@code flash} of a profile that satisfies the schema. */
record FlashParser(MergedProfile profile, Problems problems) {
    private static final long ALL_BITS = 0xffffffffL;

    /** What flashes the board, if anything does. */
    Optional<Flashing> flashing() {
        return profile.find("flash")
                .map(node -> node.has("projectApi")
                        ? projectApi(node.get("projectApi"))
                        : node.has("service")
                                ? service(node.get("service"))
                                : node.has("programs") ? programs(node) : openOcd(node.get("openocd")));
    }

    private Flashing programs(JsonNode flash) {
        SortedMap<String, RunnerDefinition> builtIn = Runners.builtIn();
        List<Program> programs = new ArrayList<>();
        flash.get("programs").properties().forEach(each -> {
            String id = each.getKey();
            if (id.equals(Runners.COMMAND)) {
                programs.add(command(each.getValue()));
            } else {
                programs.add(new Program(builtIn.get(id), values(builtIn.get(id), each.getValue())));
            }
        });
        return new Programs(Optional.ofNullable(flash.get("openocd")).map(this::openOcd), programs);
    }

    private Program command(JsonNode node) {
        RunnerDefinition definition;
        try {
            definition = Runners.definition(Runners.COMMAND, node);
        } catch (PatternSyntaxException e) {
            String what = "not a regular expression: '" + e.getPattern() + "': " + e.getDescription();
            throw new KilnException(Failure.BOARD.problem(what, profile.where("/flash/programs/command")), e);
        }
        for (String name : Runners.unknownPlaceholders(definition)) {
            problems.add(
                    "the command has an unknown placeholder {" + name + "}",
                    profile.where("/flash/programs/command"),
                    "a placeholder of the page about flashing, or a parameter of the command");
        }
        return new Program(definition, Map.of());
    }

    private Map<String, String> values(RunnerDefinition definition, JsonNode node) {
        Map<String, String> values = new TreeMap<>();
        node.properties()
                .forEach(each -> values.put(each.getKey(), each.getValue().asText()));
        String where = "/flash/programs/" + definition.id();
        List<String> names =
                definition.parameters().stream().map(Parameter::name).toList();
        values.keySet().stream()
                .filter(name -> !names.contains(name))
                .forEach(name -> problems.add(
                        definition.title() + " has no parameter " + name,
                        profile.where(where + "/" + name),
                        names.isEmpty() ? "{}" : String.join(", ", names),
                        NearMiss.didYouMean(name, names)));
        for (Parameter each : definition.parameters()) {
            String value = values.getOrDefault(each.name(), each.value().orElse(""));
            boolean isDefault = each.value().filter(value::equals).isPresent();
            if (!isDefault && !value.matches(each.pattern())) {
                problems.add(
                        value.isEmpty()
                                ? definition.title() + " needs " + each.name()
                                : "not a valid " + each.name() + ": '" + value + "'",
                        profile.where(value.isEmpty() ? where : where + "/" + each.name()),
                        each.what());
            }
        }
        return values;
    }

    private OpenOcd openOcd(JsonNode node) {
        return new OpenOcd(
                node.path("interface").asText(),
                node.get("target").asText(),
                Optional.ofNullable(node.get("transport")).map(JsonNode::asText),
                node.path("speed").asInt(0),
                Optional.ofNullable(node.get("chipId")).map(this::chipId));
    }

    private static Flashing service(JsonNode node) {
        return new Flashing.Service(node.get("name").asText(), options(node));
    }

    private static Flashing projectApi(JsonNode node) {
        return new ProjectApi(node.get("directory").asText(), options(node));
    }

    private static Map<String, String> options(JsonNode node) {
        Map<String, String> options = new TreeMap<>();
        node.path("options")
                .properties()
                .forEach(each -> options.put(each.getKey(), each.getValue().asText()));
        return options;
    }

    private ChipId chipId(JsonNode node) {
        ChipId id = new ChipId(
                node.get("address").asLong(),
                node.path("mask").asLong(ALL_BITS),
                node.get("value").asLong());
        if ((id.value() & ~id.mask()) != 0) {
            problems.add(
                    String.format(
                            Locale.ROOT, "the chip id 0x%08x has bits outside its mask 0x%08x", id.value(), id.mask()),
                    profile.where("/flash/openocd/chipId/value"),
                    "a value that the masked word can have");
        }
        return id;
    }
}
