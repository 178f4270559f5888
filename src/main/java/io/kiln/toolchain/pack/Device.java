// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.toolchain.pack.PackReader.PackDescription.Entry;
import io.kiln.toolchain.pack.PackReader.Property;
import io.kiln.toolchain.pack.Packs.Pack;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    /**
     * The handlers of a device's interrupts, by number. The vendor's header of the device knows them best, then its start-up code; the
     * description of the peripherals may miss some, and calls others otherwise.
     *
     * @param handlers names of functions by the interrupts' numbers, the first one counts
     * @param source file of the pack that they come from
     */
    record Vectors(SortedMap<Integer, List<String>> handlers, String source) {
        private static final String SUFFIX = "_IRQHandler";
        private static final int CORE_VECTORS = 16;
        private static final int MOST_NAME = 100;

        /** Headers of large devices have megabytes of registers behind the interrupts. */
        private static final int MOST_READ = 1 << 18;

        private static final Pattern ENUMERATOR =
                Pattern.compile("\\b([A-Za-z_][A-Za-z0-9_]{0,80})_IRQn\\s*=\\s*([0-9]{1,3})\\b");
        private static final Pattern TABLE = Pattern.compile("^\\s*(g_pfnVectors|__isr_vector|__Vectors)\\b");
        private static final Pattern VECTOR = Pattern.compile("^\\s*(?:\\.word|\\.long|DCD)\\s+([A-Za-z_0-9]+)");
        private static final Pattern BLANK = Pattern.compile("^\\s*([;@/#*].*)?$");

        /**
         * The vectors of a core; empty if the pack, as far as it is there, tells none.
         *
         * @throws io.kiln.base.KilnException naming the line, if the description of the peripherals is broken
         */
        static Optional<Vectors> of(Pack pack, Device device, String core) {
            return candidates(pack, device)
                    .map(name -> read(pack, name))
                    .filter(vectors -> !vectors.handlers.isEmpty())
                    .findFirst()
                    .or(() -> device.svdOf(core).flatMap(path -> ofSvd(pack, path)));
        }

        /** Files that may have the vectors of this very device: those that it names, and those that are named after it. */
        private static Stream<String> candidates(Pack pack, Device device) {
            Set<String> names = new HashSet<>();
            names.add(device.name().toLowerCase(Locale.ROOT));
            device.papers().defines().forEach(each -> names.add(each.text().toLowerCase(Locale.ROOT)));
            List<String> all = pack.files().names(path -> {
                String file = path.substring(path.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
                return names.stream()
                        .anyMatch(name -> file.equals(name + ".h")
                                || file.equals("startup_" + name + ".s")
                                || file.equals("startup_" + name + ".c"));
            });
            return Stream.of(
                            device.papers().headers().stream(),
                            all.stream().filter(path -> path.endsWith(".h")),
                            all.stream().filter(path -> !path.endsWith(".h")))
                    .flatMap(each -> each)
                    .distinct();
        }

        private static Vectors read(Pack pack, String path) {
            String text = pack.files()
                    .read(path)
                    .map(content ->
                            content.part(0, Math.min(MOST_READ, content.size())).text())
                    .orElse("");
            return new Vectors(path.endsWith(".h") ? ofEnumeration(text) : ofTable(text), path);
        }

        private static Optional<Vectors> ofSvd(Pack pack, String path) {
            return pack.files().read(path).map(content -> {
                SortedMap<Integer, List<String>> handlers = new TreeMap<>();
                SvdReader.interrupts(path, content)
                        .forEach((number, names) -> handlers.put(
                                number,
                                names.stream().map(Vectors::handler).distinct().toList()));
                return new Vectors(handlers, path);
            });
        }

        /** Interrupts of the core have negative numbers, which do not match. */
        static SortedMap<Integer, List<String>> ofEnumeration(String header) {
            SortedMap<Integer, List<String>> handlers = new TreeMap<>();
            Matcher enumerator = ENUMERATOR.matcher(header);
            while (enumerator.find()) {
                int number = Integer.parseInt(enumerator.group(2));
                if (number < SvdReader.MOST_INTERRUPTS) {
                    List<String> names = handlers.computeIfAbsent(number, any -> new ArrayList<>());
                    names.add(enumerator.group(1) + SUFFIX);
                }
            }
            return handlers;
        }

        /** The table of vectors in assembly for GNU's or Arm's assembler. */
        static SortedMap<Integer, List<String>> ofTable(String source) {
            SortedMap<Integer, List<String>> handlers = new TreeMap<>();
            boolean isInTable = false;
            int vector = 0;
            for (String line : source.lines().toList()) {
                Matcher entry = VECTOR.matcher(TABLE.matcher(line).replaceFirst(" "));
                if (!isInTable && !TABLE.matcher(line).find()) {
                    continue;
                }
                if (entry.find()) {
                    isInTable = true;
                    String name = entry.group(1);
                    int number = vector++ - CORE_VECTORS;
                    boolean isHandler =
                            name.matches("[A-Za-z_].*") && name.length() <= MOST_NAME && name.contains("Handler");
                    if (number >= 0 && number < SvdReader.MOST_INTERRUPTS && isHandler) {
                        handlers.put(number, List.of(name));
                    }
                } else if (isInTable && vector > 0 && !BLANK.matcher(line).matches()) {
                    return handlers;
                } else {
                    isInTable = true;
                }
            }
            return handlers;
        }

        /** The handler of an interrupt, as the vendors' start-up code calls it. */
        static String handler(String interrupt) {
            String name = interrupt.replaceAll("[^A-Za-z0-9_]", "_");
            String plain = name.matches("[A-Za-z_].*") ? name : "_" + name;
            String cut = plain.substring(0, Math.min(plain.length(), MOST_NAME - SUFFIX.length()));
            if (cut.endsWith("Handler")) {
                return cut;
            }
            return cut.endsWith("_IRQ") ? cut + "_Handler" : cut + SUFFIX;
        }

        /** Lines for a board's {@code interrupts.txt}, in which each handler has one number. */
        List<String> lines() {
            List<String> lines = new ArrayList<>();
            Set<String> taken = new HashSet<>();
            int last = handlers.isEmpty() ? -1 : handlers.lastKey();
            for (int number = 0; number <= last; number++) {
                List<String> names = handlers.getOrDefault(number, List.of());
                Optional<String> first = names.stream().filter(taken::add).findFirst();
                names.stream()
                        .filter(name -> first.filter(name::equals).isEmpty())
                        .forEach(name -> lines.add("# The next one is also called " + name + "."));
                lines.add(first.orElse("-"));
            }
            return lines;
        }

        /**
         * Reads the interrupts of a System View Description. Registers, which are nearly all of it, are passed over. Peripherals that are derived
         * from others name their own interrupts.
         */
        static final class SvdReader implements SafeXml.Visitor {
            /** Armv7-M Architecture Reference Manual, B3.4. */
            static final int MOST_INTERRUPTS = 496;

            private final String file;
            private final SortedMap<Integer, Set<String>> interrupts = new TreeMap<>();
            private boolean isOfDevice;
            private boolean isInInterrupt;
            private String name = "";
            private String value = "";

            private SvdReader(String file) {
                this.file = file;
            }

            /**
             * The names of each interrupt by its number, each name once, in the order of the file.
             *
             * @param file its name, for messages
             * @throws KilnException naming the line, if it is no such description, or if an interrupt has no name or number
             */
            static SortedMap<Integer, Set<String>> interrupts(String file, Bytes content) {
                SvdReader reader = new SvdReader(file);
                SafeXml.read(file, content, reader);
                return reader.interrupts;
            }

            @Override
            public void begin(String element, Map<String, String> attributes, int line) {
                if (!isOfDevice && !element.equals("device")) {
                    throw refused("the file begins with the element " + element, line, "device, as a CMSIS-SVD file");
                }
                isOfDevice = true;
                if (element.equals("interrupt")) {
                    isInInterrupt = true;
                    name = "";
                    value = "";
                }
            }

            @Override
            public void end(String element, String text, int line) {
                if (!isInInterrupt) {
                    return;
                }
                switch (element) {
                    case "name" -> name = text;
                    case "value" -> value = text;
                    case "interrupt" -> {
                        isInInterrupt = false;
                        if (name.isEmpty()) {
                            throw refused("an interrupt has no name", line, "an element name in it");
                        }
                        interrupts
                                .computeIfAbsent(number(line), any -> new LinkedHashSet<>())
                                .add(name);
                    }
                    default -> {}
                }
            }

            /** CMSIS-SVD, scaledNonNegativeInteger. */
            private int number(int line) {
                String digits = value.startsWith("+") ? value.substring(1) : value;
                int radix = 10;
                if (digits.startsWith("#")) {
                    radix = 2;
                    digits = digits.substring(1);
                } else if (digits.length() > 2 && digits.charAt(0) == '0' && !Character.isDigit(digits.charAt(1))) {
                    radix = Character.toLowerCase(digits.charAt(1)) == 'b' ? 2 : 16;
                    digits = digits.substring(2);
                }
                if (digits.matches("[0-9a-fA-F]{1,10}")) {
                    try {
                        int number = Integer.parseInt(digits, radix);
                        if (number < MOST_INTERRUPTS) {
                            return number;
                        }
                    } catch (NumberFormatException e) {
                        // The message below tells what is wrong.
                    }
                }
                throw refused(
                        "the interrupt " + name + (value.isEmpty() ? " has no number" : " has the number " + value),
                        line,
                        "0 to " + (MOST_INTERRUPTS - 1));
            }

            private KilnException refused(String what, int line, String expected) {
                return Failure.BOARD.exception(what, file + ":" + line, expected);
            }
        }
    }
}
