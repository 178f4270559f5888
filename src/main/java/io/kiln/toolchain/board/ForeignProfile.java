// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.LinkerMemories.LinkerVariant;
import io.kiln.toolchain.fence.LinkerScript;
import io.kiln.toolchain.fence.Refusals.Refusal;
import io.kiln.toolchain.fence.ScriptIncludes;
import io.kiln.toolchain.runner.Runners;
import io.kiln.toolchain.yaml.YamlDocument;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Checks an untrusted profile from a repository. Its own emulator is refused entirely: QEMU's arguments name files and
 * networks, and a plain executable has access to this computer. OpenOCD's scripts are programs in Tcl: only those of
 * OpenOCD itself may be named. A Project API server and a command that flashes are programs, too. Linker scripts are checked against a grammar. C is checked later by the firmware build,
 * after preprocessing.
 */
final class ForeignProfile {
    private static final Pattern SHIPPED_SCRIPT =
            Pattern.compile("(interface|target|board)(/[A-Za-z0-9][A-Za-z0-9_+-]*(\\.[A-Za-z0-9_+-]+)*){1,3}\\.cfg");

    /** Files that an untrusted profile may have. Others could be read by a tool without being named, such as a precompiled header. */
    private static final Pattern FILE = Pattern.compile(
            ".*\\.(c|h|S|s|inc|ld|yaml|md|txt|svd|json|png|jpg|svg|pdf)|(.*/)?(LICENSE|LICENCE|NOTICE|COPYING|tuning\\.log)");

    private static final Pattern SCRIPT = Pattern.compile(".*\\.(cfg|tcl)");

    private ForeignProfile() {}

    /** Adds everything that is refused, with its line or file. */
    static void check(MergedProfile.Layer layer, Problems problems) {
        if (!layer.foreign()) {
            return;
        }
        checkPrograms(layer, problems);
        checkFiles(layer, problems);
    }

    private static void checkPrograms(MergedProfile.Layer layer, Problems problems) {
        YamlDocument document = layer.document();
        JsonNode emulator = document.root().path("emulator");
        for (String key : List.of("qemu", "native")) {
            if (emulator.has(key)) {
                refuse(
                        "an emulator of its own, which reaches this computer",
                        document.where("/emulator/" + key),
                        layer,
                        problems);
            }
        }
        for (String key : List.of("interface", "target")) {
            JsonNode script = document.root().at("/flash/openocd/" + key);
            if (!script.isMissingNode()
                    && !SHIPPED_SCRIPT.matcher(script.asText()).matches()) {
                refuse("Tcl of its own for OpenOCD", document.where("/flash/openocd/" + key), layer, problems);
            }
        }
        if (document.root().at("/flash/programs").has(Runners.COMMAND)) {
            refuse(
                    "a command, which is a program that runs with your rights",
                    document.where("/flash/programs/" + Runners.COMMAND),
                    layer,
                    problems);
        }
        if (document.root().path("flash").has("projectApi")) {
            refuse(
                    "a Project API server, which is a program that runs with your rights",
                    document.where("/flash/projectApi"),
                    layer,
                    problems);
        }
        if (document.root().path("flash").has("service")) {
            refuse(
                    "options for a flash service, which is a program that runs with your rights",
                    document.where("/flash/service"),
                    layer,
                    problems);
        }
    }

    private static void checkFiles(MergedProfile.Layer layer, Problems problems) {
        TreeSet<String> names = new TreeSet<>(layer.files().keySet());
        // It may include what it inherits, the sections shared by the built-in profiles, and what is made from it.
        names.addAll(List.of("sections.ld", "sections.code.ld", "sections.ram.ld", "sections.data.ld"));
        names.add(LinkerMemories.FILE);
        names.addAll(Stream.of(LinkerVariant.values())
                .map(variant -> variant.of(LinkerMemories.FILE))
                .toList());
        layer.files().forEach((name, content) -> {
            String where = layer.document().name().replace(BoardFiles.DESCRIPTOR, name);
            if (SCRIPT.matcher(name).matches()) {
                refuse("Tcl of its own for OpenOCD", where, layer, problems);
            } else if (!FILE.matcher(name).matches()) {
                refuse("a file of a kind that profiles do not have", where, layer, problems);
            }
            if (name.endsWith(".ld")) {
                for (Refusal refusal : LinkerScript.refusals(where, content.text(), names)) {
                    refuse(refusal.what(), refusal.where(), layer, problems);
                }
            }
        });
    }

    /** Adds errors that only show in the merged profile. */
    static void checkWhole(Board board, List<MergedProfile.Layer> layers, Problems problems) {
        for (String source : board.sources()) {
            if (board.foreignFiles().contains(source) && !source.endsWith(".c")) {
                layers.stream()
                        .filter(layer -> layer.files().containsKey(source))
                        .findFirst()
                        .ifPresent(layer -> refuse(
                                "an assembler source",
                                layer.document().name().replace(BoardFiles.DESCRIPTOR, source),
                                layer,
                                problems));
            }
        }
        SortedMap<String, String> scripts = new TreeMap<>();
        board.files().forEach((name, content) -> {
            if (name.endsWith(".ld")) {
                scripts.put(name, content.text());
            }
        });
        layers.stream()
                .filter(MergedProfile.Layer::foreign)
                .findFirst()
                .ifPresent(layer -> ScriptIncludes.refusal(scripts)
                        .ifPresent(refusal -> refuse(refusal.what(), refusal.where(), layer, problems)));
        layers.stream()
                .filter(layer -> layer.foreign() && board.isHost())
                .findFirst()
                .ifPresent(layer -> refuse(
                        "code that runs on this computer, since the board " + board.id() + " is this computer",
                        layer.document().where("/extends"),
                        layer,
                        problems));
    }

    private static void refuse(String what, String where, MergedProfile.Layer layer, Problems problems) {
        problems.add(
                "refused in a profile from a repository: " + what,
                where,
                "",
                Board.trustAdvice(layer.untrusted().stream().toList()));
    }
}
