// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.TargetText;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The options of a target string that a C compiler needs.
 *
 * @param mcpu core, such as {@code cortex-m4} or {@code cortex-m33+nofp}; empty if not given
 * @param march instruction set, such as {@code rv32imac}; empty if not given
 * @param mabi calling convention, such as {@code ilp32}; empty if not given
 * @param mtriple target triple of LLVM, such as {@code thumbv7em-none-eabihf}; empty if not given
 */
public record TargetOptions(String mcpu, String march, String mabi, String mtriple) {
    /** Name of the core for code that runs on this computer. */
    public static final String HOST = "host";

    /**
     * Reads the options of a target string such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=x}, in each form
     * that the compiler accepts: {@code -name=value}, {@code --name=value} and {@code -name value}. Options of the code
     * generator are skipped here and checked there.
     */
    public static TargetOptions parse(String target) {
        Map<String, String> options = new TreeMap<>();
        List<TargetText.Word> words = TargetText.words(target);
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i).text();
            if (word.startsWith("-")) {
                String option = word.substring(word.startsWith("--") ? 2 : 1);
                int equals = option.indexOf('=');
                String next = i + 1 < words.size() ? words.get(i + 1).text() : "-";
                if (equals > 0) {
                    options.put(option.substring(0, equals), option.substring(equals + 1));
                } else if (!next.startsWith("-")) {
                    options.put(option, next);
                }
            }
        }
        return new TargetOptions(
                options.getOrDefault("mcpu", ""),
                options.getOrDefault("march", ""),
                options.getOrDefault("mabi", ""),
                options.getOrDefault("mtriple", ""));
    }

    /** Key in a descriptor's {@code cpus}: the core, otherwise the instruction set, otherwise {@link #HOST}. */
    public String cpu() {
        if (!mcpu.isEmpty()) {
            return mcpu;
        }
        return march.isEmpty() ? HOST : march;
    }

    /** Whether the code runs on this computer. */
    public boolean isHost() {
        return cpu().equals(HOST);
    }
}
