// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.toolchain.pack.PackReader.PackDescription.Entry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads the tree of devices in a pack's description (Open-CMSIS-Pack, "devices element"), and nothing else of it. */
final class PackReader implements SafeXml.Visitor {
    private static final int MOST_DEVICES = 20_000;
    private static final int MOST_PROPERTIES = 100_000;

    /** What is said of one device with all that it inherits; its memories, for example, are compared with each other. */
    private static final int MOST_OF_DEVICE = 500;

    /** Elements that group devices, outermost first, and the attributes with their names. */
    private static final Map<String, String> LEVELS =
            Map.of("family", "Dfamily", "subFamily", "DsubFamily", "device", "Dname", "variant", "Dvariant");

    /** Elements that say what Kiln reads. Others, which are most, cost nothing. */
    private static final Set<String> READ =
            Set.of("processor", "memory", "algorithm", "debug", "compile", "flashinfo", "block", "gap");

    private final String file;
    private final Deque<String> path = new ArrayDeque<>();
    private final Deque<Level> levels = new ArrayDeque<>();
    private final List<Entry> devices = new ArrayList<>();
    private boolean isInDevices;
    private int properties;
    private String vendor = "";
    private String name = "";
    private Optional<String> version = Optional.empty();

    /** A group of devices that is being read. */
    private static final class Level {
        private final String name;
        private final String vendor;
        private final List<Property> properties = new ArrayList<>();
        private boolean hasVariants;

        Level(String name, String vendor) {
            this.name = name;
            this.vendor = vendor;
        }
    }

    private PackReader(String file) {
        this.file = file;
    }

    /**
     * Reads a description.
     *
     * @param file its name, for messages
     * @throws KilnException naming the line, if it is broken or too large, or if it describes no pack
     */
    static PackDescription read(String file, Bytes content) {
        PackReader reader = new PackReader(file);
        SafeXml.read(file, content, reader);
        if (reader.name.isEmpty()) {
            throw reader.refused("this describes no pack", 1, "an element package with vendor, name and devices");
        }
        for (Entry device : reader.devices) {
            if (device.levels().stream().mapToInt(List::size).sum() > MOST_OF_DEVICE) {
                throw reader.refused(
                        "the pack says too much of " + device.name(), 1, "at most " + MOST_OF_DEVICE + " elements");
            }
        }
        return new PackDescription(reader.vendor, reader.name, reader.version, List.copyOf(reader.devices));
    }

    @Override
    public void begin(String element, Map<String, String> attributes, int line) {
        if (path.isEmpty() && !element.equals("package")) {
            throw refused("the file begins with the element " + element, line, "package, as a CMSIS-Pack's .pdsc");
        }
        if (isInDevices && LEVELS.containsKey(element)) {
            levels.push(new Level(
                    attributes.getOrDefault(LEVELS.get(element), ""), attributes.getOrDefault("Dvendor", "")));
        } else if (!levels.isEmpty() && READ.contains(element)) {
            add(element, attributes, line);
        } else if (element.equals("release") && version.isEmpty() && path.size() == 2) {
            version = Optional.ofNullable(attributes.get("version"));
        }
        isInDevices |= path.size() == 1 && element.equals("devices");
        path.push(element);
    }

    private void add(String element, Map<String, String> attributes, int line) {
        if (++properties > MOST_PROPERTIES) {
            throw refused("the pack says too much of its devices", line, "at most " + MOST_PROPERTIES + " elements");
        }
        List<Property> own = levels.getFirst().properties;
        boolean isPart = element.equals("block") || element.equals("gap");
        if (isPart && path.getFirst().equals("flashinfo")) {
            own.get(own.size() - 1).parts().add(property(element, attributes, line, List.of()));
        } else if (!isPart && LEVELS.containsKey(path.getFirst())) {
            own.add(property(element, attributes, line, new ArrayList<>()));
        }
    }

    private Property property(String element, Map<String, String> attributes, int line, List<Property> parts) {
        return new Property(element, attributes, parts, file + ":" + line);
    }

    @Override
    public void end(String element, String text, int line) {
        path.pop();
        if (path.size() == 1 && element.equals("devices")) {
            isInDevices = false;
        } else if (path.size() == 1 && element.equals("vendor")) {
            vendor = text;
        } else if (path.size() == 1 && element.equals("name")) {
            name = text;
        } else if (isInDevices && LEVELS.containsKey(element)) {
            Level level = levels.getFirst();
            boolean isChosen = element.equals("variant") || (element.equals("device") && !level.hasVariants);
            if (isChosen) {
                addDevice(element, level, line);
            }
            levels.pop();
            if (element.equals("variant") && !levels.isEmpty()) {
                levels.getFirst().hasVariants = true;
            }
        }
    }

    private void addDevice(String element, Level level, int line) {
        if (level.name.isEmpty()) {
            throw refused("the " + element + " has no name", line, "an attribute " + LEVELS.get(element));
        }
        if (devices.size() >= MOST_DEVICES) {
            throw refused("the pack has too many devices", line, "at most " + MOST_DEVICES);
        }
        List<Level> outwards = List.copyOf(levels);
        String device = element.equals("variant") && outwards.size() > 1 ? outwards.get(1).name : level.name;
        String maker = outwards.stream()
                .map(each -> each.vendor)
                .filter(each -> !each.isEmpty())
                .findFirst()
                .orElse(vendor);
        // The outer levels grow no more properties that count: elements behind a device do, for all of its siblings.
        List<List<Property>> said = outwards.stream()
                .map(each -> Collections.unmodifiableList(each.properties))
                .toList();
        devices.add(new Entry(level.name, device, maker, said));
    }

    private KilnException refused(String what, int line, String expected) {
        return Failure.BOARD.exception(what, file + ":" + line, expected);
    }

    /**
     * What a pack's description ({@code .pdsc}) says, before anything is inherited.
     *
     * @param vendor who publishes the pack
     * @param name of the pack
     * @param version of its newest release; empty if it has none
     * @param devices in the order of the file
     */
    record PackDescription(String vendor, String name, Optional<String> version, List<Entry> devices) {
        /** Vendor, name and version, as packs are called. */
        String id() {
            return vendor + "." + name + version.map(each -> "." + each).orElse("");
        }

        /**
         * A device that can be chosen: one without variants, or a variant.
         *
         * @param name of the device or variant
         * @param device name of the device
         * @param vendor of the family, {@code Name:number}
         * @param levels what is said of it, from the innermost level outwards
         */
        record Entry(String name, String device, String vendor, List<List<Property>> levels) {}
    }

    /**
     * An element of a pack's description that says something of a device, such as a memory.
     *
     * @param parts the elements in it
     * @param where file and line
     */
    record Property(String element, Map<String, String> attributes, List<Property> parts, String where) {
        /** Open-CMSIS-Pack, PACK.xsd: NonNegativeInteger; 64 bits. */
        private static final Pattern NUMBER = Pattern.compile("\\+?(0[xX][0-9a-fA-F]{1,15}|[0-9]{1,18})");

        /** An attribute; empty if it is absent. */
        String text(String name) {
            return attributes.getOrDefault(name, "");
        }

        /** An attribute that is a path, with {@code /} between its segments; empty if it is absent. */
        Optional<String> path(String name) {
            return Optional.of(text(name).replace('\\', '/')).filter(path -> !path.isEmpty());
        }

        boolean flag(String name) {
            return isTrue(text(name));
        }

        static boolean isTrue(String text) {
            return text.equals("1") || text.equals("true");
        }

        /**
         * An attribute that is a number.
         *
         * @throws KilnException naming the line, if it is absent, negative or no number
         */
        long number(String name) {
            String text = text(name);
            if (!NUMBER.matcher(text).matches()) {
                throw Failure.BOARD.exception(
                        text.isEmpty()
                                ? "the element " + element + " has no attribute " + name
                                : "the attribute " + name + " is " + text,
                        where,
                        "a number such as 0x08000000 or 65536");
            }
            String digits = text.startsWith("+") ? text.substring(1) : text;
            return digits.length() > 1 && Character.toLowerCase(digits.charAt(1)) == 'x'
                    ? Long.parseLong(digits.substring(2), 16)
                    : Long.parseLong(digits);
        }
    }
}
