// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads the keys {@code toolchain}, {@code flags} and {@code uf2} of a profile that satisfies the schema. */
final class BuildingParser {
    private final MergedProfile profile;
    private final Problems problems;

    BuildingParser(MergedProfile profile, Problems problems) {
        this.profile = profile;
        this.problems = problems;
    }

    Building parse(Optional<BoardNpu> npu) {
        Optional<JsonNode> flags = profile.find("flags");
        List<String> compile = new ArrayList<>();
        List<String> link = new ArrayList<>();
        flags.ifPresent(node -> {
            for (Map.Entry<String, JsonNode> macro : node.path("defines").properties()) {
                String value = macro.getValue().asText();
                compile.add("-D" + macro.getKey() + (value.isEmpty() ? "" : "=" + value));
            }
            for (int i = 0; i < node.path("compile").size(); i++) {
                String flag = node.path("compile").get(i).asText();
                check(flag, profile.where("/flags/compile/" + i));
                compile.add(flag);
            }
            for (Map.Entry<String, JsonNode> symbol : node.path("symbols").properties()) {
                link.add(String.format(
                        Locale.ROOT, "-Wl,--defsym=%s=0x%x", symbol.getKey(), BoardParser.size(symbol.getValue())));
            }
        });
        return new Building(toolchain(), compile, link, codegens(npu), uf2Family());
    }

    private OptionalLong uf2Family() {
        return profile.find("uf2")
                .map(node -> OptionalLong.of(node.get("family").asLong()))
                .orElse(OptionalLong.empty());
    }

    /** The code generators before the host's part of the target, and that of the NPU. */
    private List<String> codegens(Optional<BoardNpu> npu) {
        List<String> parts =
                TargetText.parts(profile.find("target").map(JsonNode::asText).orElse(""));
        List<String> codegens = new ArrayList<>(parts.subList(0, parts.size() - 1));
        npu.ifPresent(own -> codegens.add(own.target()));
        return codegens;
    }

    private void check(String flag, String where) {
        CompilerFlags.refusal(flag)
                .ifPresent(refusal -> problems.add(
                        "the compiler flag " + CompilerFlags.printable(flag) + " is refused: " + refusal.why(),
                        where,
                        CompilerFlags.ALLOWED,
                        refusal.remedy()));
        boolean isFolder = flag.startsWith("-I") && CompilerFlags.refusal(flag).isEmpty();
        String folder = flag.substring(Math.min(2, flag.length())) + "/";
        if (isFolder && profile.files().keySet().stream().noneMatch(file -> file.startsWith(folder))) {
            problems.add("the folder " + folder + " does not exist", where, "a folder beside board.yaml", "");
        }
    }

    private Optional<NamedToolchain> toolchain() {
        return profile.find("toolchain").map(node -> {
            boolean required = node.isObject();
            String name = required ? node.path("require").asText() : node.asText();
            return new NamedToolchain(name, required, profile.where("/toolchain"));
        });
    }
}
