// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.Artifact;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.toolchain.board.Board.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads which targets reach the memories of a board profile. */
final class MemoryTargets {
    private final MergedProfile profile;
    private final Problems problems;
    private final List<String> ofNpu;

    MemoryTargets(MergedProfile profile, Problems problems) {
        this.profile = profile;
        this.problems = problems;
        this.ofNpu = NpuParser.reached(profile);
    }

    /**
     * The keys of a memory; empty if every target reaches it. A profile that inherits its memories may have a target of its own, with fewer
     * code generators than the memories know. A memory that the NPU does not list is out of its reach.
     *
     * @param memory JSON pointer to it
     */
    List<String> read(JsonNode node, String memory) {
        List<String> keys = new ArrayList<>();
        node.path("targets").forEach(key -> keys.add(key.asText()));
        List<String> known = known();
        if (!ofNpu.isEmpty() && !ofNpu.contains(node.path("name").asText())) {
            if (keys.isEmpty()) {
                keys.addAll(known);
            }
            keys.remove(BoardNpu.CODEGEN);
        }
        for (int i = 0; i < keys.size(); i++) {
            if (!known.contains(keys.get(i)) && !profile.isNearer("target", "memories")) {
                problems.add(
                        "the board has no target " + keys.get(i) + " that could reach a memory",
                        profile.exactly(memory + "/targets/" + i),
                        "one of " + known,
                        "Name the code generator in the board's target, or correct the name");
            }
        }
        return keys;
    }

    /** Keys of the targets that a memory may name: the core, and the code generators of the board's own target. */
    private List<String> known() {
        List<String> known = new ArrayList<>(List.of(Artifact.HOST));
        profile.find("target").ifPresent(target -> {
            List<String> parts = TargetText.parts(target.asText());
            parts.subList(0, parts.size() - 1).forEach(part -> known.add(TargetText.kind(part)));
        });
        profile.find("npu").ifPresent(npu -> known.add(BoardNpu.CODEGEN));
        return known;
    }

    /** Checks the memories that the core needs, and those that every target does. */
    void check(List<Memory> memories, List<String> workspace, List<String> constants, Optional<String> more) {
        requireHost(memories, workspace.get(workspace.size() - 1), "variables and stack");
        requireHost(memories, constants.get(0), "the code");
        more.ifPresent(name -> requireAll(memories, name));
    }

    /** Checks that the core reaches a memory that it needs, whatever else reaches that. */
    private void requireHost(List<Memory> memories, String name, String what) {
        for (int i = 0; i < memories.size(); i++) {
            List<String> targets = memories.get(i).targets();
            boolean reaches = targets.isEmpty() || targets.contains(Artifact.HOST);
            if (memories.get(i).name().equals(name) && !reaches) {
                problems.add(
                        "the memory " + name + " holds " + what + ", and the core does not reach it",
                        profile.exactly("/memories/" + i + "/targets"),
                        Artifact.HOST + " among its targets",
                        "Add it, or give pools another memory");
            }
        }
    }

    /** Checks that every target reaches a memory of constants: weights and tables of all targets move together. */
    private void requireAll(List<Memory> memories, String name) {
        for (int i = 0; i < memories.size(); i++) {
            if (memories.get(i).name().equals(name)
                    && !memories.get(i).targets().isEmpty()) {
                problems.add(
                        "the memory " + name + " takes the constants of every target, and only "
                                + String.join(", ", memories.get(i).targets()) + " reach it",
                        profile.exactly("/memories/" + i + "/targets"),
                        "a memory without targets as moreConstants",
                        "List it among pools.constants instead");
            }
        }
    }
}
