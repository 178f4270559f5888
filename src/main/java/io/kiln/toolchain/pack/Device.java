// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.toolchain.pack.PackReader.PackDescription.Entry;
import io.kiln.toolchain.pack.PackReader.Property;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A device of a pack with all that it inherits: inner levels win, and take what they lack from outer ones (Open-CMSIS-Pack, "devices
 * element").
 *
 * @param name of the variant, or of the device if it has none
 * @param vendor {@code Name:number}
 * @param processors attributes of each core by its name, in the order of the pack; the only core without a name has an empty one
 * @param memories by address
 * @param flash what is said of its flash
 * @param papers the vendor's files and macros
 */
record Device(
        String name,
        String vendor,
        Map<String, Map<String, String>> processors,
        List<DeviceMemory> memories,
        Flash flash,
        Papers papers) {
    private static final String CORE = "Pname";

    /**
     * What is said of flash, innermost first.
     *
     * @param algorithms that program it
     * @param infos its layouts
     */
    record Flash(List<Property> algorithms, List<Property> infos) {}

    /**
     * Files and macros for programs.
     *
     * @param svd paths of descriptions of the peripherals by core; that of all cores has an empty name
     * @param defines macros of the vendor's headers, innermost first
     * @param headers paths of the vendor's headers, innermost first
     */
    record Papers(Map<String, String> svd, List<Define> defines, List<String> headers) {}

    /**
     * A macro.
     *
     * @param core its name; empty for all
     * @param attribute of the pack's element that has it
     * @param text {@code NAME} or {@code NAME=value}
     */
    record Define(String core, String attribute, String text) {}

    /**
     * A memory of a device.
     *
     * @param name unique for its core
     * @param core its name; empty for all
     * @param use what programs may use it for
     * @param alias name of the memory whose bytes these are; empty if they are its own
     * @param where file and line
     */
    record DeviceMemory(String name, String core, long start, long size, Use use, String alias, String where) {
        long end() {
            return start + size;
        }

        DeviceMemory at(String place) {
            return new DeviceMemory(name, core, start, size, use, alias, place);
        }

        boolean allows(char letter) {
            return use.access.indexOf(letter) >= 0;
        }

        boolean isDefault() {
            return use.isDefault;
        }

        boolean isStartup() {
            return use.isStartup;
        }
    }

    /**
     * What programs may use a memory for.
     *
     * @param access letters of Open-CMSIS-Pack: r, w, x, p (peripheral), s (secure), n (not), c (callable)
     * @param isDefault whether without further ado
     * @param isStartup whether for the vectors
     */
    record Use(String access, boolean isDefault, boolean isStartup) {}

    /**
     * Resolves what a pack says.
     *
     * @throws io.kiln.base.KilnException naming the line of a number that is none
     */
    static Device of(Entry entry) {
        return new Device(
                entry.name(),
                entry.vendor(),
                processorsOf(entry.levels()),
                memoriesOf(entry.levels()),
                new Flash(
                        all(entry.levels(), "algorithm").toList(),
                        all(entry.levels(), "flashinfo").toList()),
                new Papers(
                        svdOf(entry.levels()),
                        definesOf(entry.levels()),
                        all(entry.levels(), "compile")
                                .flatMap(compile -> compile.path("header").stream())
                                .toList()));
    }

    private static Stream<Property> all(List<List<Property>> levels, String element) {
        return levels.stream()
                .flatMap(List::stream)
                .filter(property -> property.element().equals(element));
    }

    /** What is said without a core's name is said of each of them. */
    private static Map<String, Map<String, String>> processorsOf(List<List<Property>> levels) {
        Set<String> names = new LinkedHashSet<>();
        all(levels, "processor").map(each -> each.text(CORE)).forEach(names::add);
        if (names.size() > 1) {
            names.remove("");
        }
        Map<String, Map<String, String>> processors = new LinkedHashMap<>();
        for (String name : names) {
            Map<String, String> attributes = new LinkedHashMap<>();
            for (List<Property> level : levels) {
                Stream.of(name, "")
                        .distinct()
                        .flatMap(core -> all(List.of(level), "processor")
                                .filter(each -> each.text(CORE).equals(core)))
                        .forEach(each -> each.attributes().forEach(attributes::putIfAbsent));
            }
            attributes.remove(CORE);
            processors.put(name, attributes);
        }
        return processors;
    }

    private static List<DeviceMemory> memoriesOf(List<List<Property>> levels) {
        Map<List<String>, Map<String, String>> merged = new LinkedHashMap<>();
        Map<List<String>, String> places = new LinkedHashMap<>();
        all(levels, "memory").forEach(each -> {
            String name = each.text(each.text("name").isEmpty() ? "id" : "name");
            List<String> key = List.of(each.text(CORE), name);
            each.attributes().forEach(merged.computeIfAbsent(key, any -> new LinkedHashMap<>())::putIfAbsent);
            places.putIfAbsent(key, each.where());
        });
        List<DeviceMemory> memories = new ArrayList<>();
        merged.forEach((key, attributes) -> {
            Property all = new Property("memory", attributes, List.of(), places.get(key));
            memories.add(new DeviceMemory(
                    key.get(1),
                    key.get(0),
                    all.number("start"),
                    all.number("size"),
                    new Use(access(all), all.flag("default"), all.flag("startup")),
                    all.text("alias"),
                    all.where()));
        });
        memories.sort(Comparator.comparingLong(DeviceMemory::start));
        return memories;
    }

    /** The old numbered names stand for an access, whatever else is said. */
    private static String access(Property memory) {
        String id = memory.text("id");
        if (id.startsWith("IROM") || id.startsWith("ROM")) {
            return "rx";
        }
        if (id.startsWith("IRAM") || id.startsWith("RAM")) {
            return "rwx";
        }
        return memory.text("access").isEmpty() ? "r" : memory.text("access");
    }

    private static Map<String, String> svdOf(List<List<Property>> levels) {
        Map<String, String> svd = new TreeMap<>();
        all(levels, "debug")
                .forEach(each -> each.path("svd").ifPresent(path -> svd.putIfAbsent(each.text(CORE), path)));
        return svd;
    }

    private static List<Define> definesOf(List<List<Property>> levels) {
        Set<Define> defines = new LinkedHashSet<>();
        all(levels, "compile")
                .forEach(each -> Stream.of("define", "Pdefine")
                        .filter(attribute -> !each.text(attribute).isEmpty())
                        .forEach(attribute ->
                                defines.add(new Define(each.text(CORE), attribute, each.text(attribute)))));
        return List.copyOf(defines);
    }

    /** The description of the peripherals that a core sees. */
    Optional<String> svdOf(String core) {
        return Optional.ofNullable(papers.svd.get(core)).or(() -> Optional.ofNullable(papers.svd.get("")));
    }

    /** Whether something said for one core, or for all, is said for this one. */
    static boolean isFor(String said, String core) {
        return said.isEmpty() || said.equals(core);
    }
}
