// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.TextTemplate;
import io.kiln.toolchain.pack.MemoryPlan.Region;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;

/**
 * The linker scripts of a device.
 *
 * @param templates by name
 * @param device its name
 * @param pack the name of its pack
 */
record LinkerText(SortedMap<String, Bytes> templates, MemoryPlan plan, String device, String pack) {
    private static final String CODE = "CODE";
    private static final String DATA = "DATA";

    /** That of most images. */
    String plain() {
        return script(
                "",
                regions(
                        plan.region(plan.code()).size(),
                        plan.region(plan.data()).size(),
                        ""),
                "");
    }

    /** That of images whose parameters lie from an address on. */
    String parameters(long address) {
        Region code = plan.region(plan.code());
        String own = region("PARAMETERS", "r", address, code.end() - address);
        return script(
                "\n * In place of memory.ld for images whose parameters are flashed by themselves.",
                regions(address - code.base(), plan.region(plan.data()).size(), own),
                templates.get("parameters.ld").text());
    }

    /** That of images whose models are replaced in the field. */
    String slots(long first, long bytes, long description, long dataBytes) {
        Region code = plan.region(plan.code());
        String own = region("FIRMWARE", "r", first - description, description) + region("SLOT", "rx", first, bytes);
        return script(
                "\n * In place of memory.ld for images whose models are replaced in the field. What the firmware is lies before the first slot.",
                regions(first - description - code.base(), dataBytes, own),
                templates.get("slots.ld").text());
    }

    private String regions(long codeBytes, long dataBytes, String more) {
        Region code = plan.region(plan.code());
        Region data = plan.region(plan.data());
        StringBuilder regions = new StringBuilder(region(CODE, "rx", code.base(), codeBytes)).append(more);
        regions.append(region(DATA, "rw", data.base(), dataBytes));
        plan.regions().stream()
                .filter(each -> !each.equals(code) && !each.equals(data))
                .forEach(each ->
                        regions.append(region(name(each), each.isRom() ? "rx" : "rw", each.base(), each.size())));
        return regions.toString();
    }

    private static String region(String name, String access, long base, long size) {
        return String.format(
                Locale.ROOT, "  %s (%s) : ORIGIN = 0x%08x, LENGTH = %s\n", name, access, base, BoardText.size(size));
    }

    private static String name(Region region) {
        return "MEMORY_" + region.name().toUpperCase(Locale.ROOT);
    }

    private String script(String purpose, String regions, String more) {
        StringBuilder sections = new StringBuilder(more);
        plan.regions().stream()
                .filter(each -> !each.name().equals(plan.code()) && !each.name().equals(plan.data()))
                .forEach(each -> sections.append(TextTemplate.filled(
                        templates
                                .get(each.isRom() ? "constants.ld" : "workspace.ld")
                                .text(),
                        Map.of("NAME", each.name(), "REGION", name(each)))));
        Map<String, String> values = new LinkedHashMap<>();
        values.put("DEVICE", BoardWriter.printable(device));
        values.put("PACK", BoardWriter.printable(pack));
        values.put("PURPOSE", purpose);
        values.put(
                "GUARD", plan.isNothingBelow() ? "PROVIDE(__stack_guard_below = 0x1000000); /* below DATA */\n\n" : "");
        values.put("REGIONS", regions);
        values.put("SECTIONS", sections.toString());
        return TextTemplate.filled(templates.get("memory.ld").text(), values);
    }
}
