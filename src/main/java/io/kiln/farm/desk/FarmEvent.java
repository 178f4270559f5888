// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import io.kiln.base.Log;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Something that happened in a farm. As a line it has the form {@code event=job_taken job=… worker=…}, which people and programs read; foreign text is
 * in quotation marks.
 *
 * @param kind what happened
 * @param fields the particulars, in the order of the line
 */
public record FarmEvent(Kind kind, Map<String, String> fields) {
    private static final int LONGEST = 300;

    /** What may happen. */
    public enum Kind {
        JOB_SENT,
        JOB_TAKEN,
        JOB_ANSWERED,
        JOB_RETURNED,
        JOB_GIVEN_UP,
        JOB_EXPIRED,
        JOB_WITHDRAWN,
        ANSWER_REFUSED,
        WORKER_JOINED,
        WORKER_LEFT,
        OTHER_VERSION,
        NEWS_REFUSED,
        HELD,
        RELEASED,
        STRIKE,
        LEASE_TAKEN,
        LEASE_LOST,
        POWER_CYCLED,
        BROKER_FOUND,
        BROKER_LOST;

        /** Its name in lines and metrics. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Whether somebody should look at it. */
        public boolean isWarning() {
            return switch (this) {
                case JOB_GIVEN_UP,
                        ANSWER_REFUSED,
                        OTHER_VERSION,
                        NEWS_REFUSED,
                        HELD,
                        STRIKE,
                        LEASE_LOST,
                        POWER_CYCLED -> true;
                default -> false;
            };
        }
    }

    public FarmEvent {
        fields = new LinkedHashMap<>(fields);
    }

    /** An event without particulars. */
    public static FarmEvent of(Kind kind) {
        return new FarmEvent(kind, Map.of());
    }

    public FarmEvent with(String name, Object value) {
        if (String.valueOf(value).isEmpty()) {
            return this;
        }
        FarmEvent more = new FarmEvent(kind, fields);
        more.fields.put(name, String.valueOf(value));
        return more;
    }

    /** A particular; empty if there is none. */
    public String field(String name) {
        return fields.getOrDefault(name, "");
    }

    /** The line. */
    public String text() {
        StringBuilder text = new StringBuilder("event=").append(kind.text());
        fields.forEach(
                (name, value) -> text.append(' ').append(name).append('=').append(quoted(value)));
        return text.toString();
    }

    private static String quoted(String value) {
        String shown = value.length() <= LONGEST ? value : value.substring(0, LONGEST) + "…";
        return shown.matches("[A-Za-z0-9._:/@+-]+")
                ? shown
                : '"' + shown.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }

    /** Hears what happens in a farm. Thread-safe; never throws. */
    @FunctionalInterface
    public interface FarmEvents {
        /** Something happened. */
        void happened(FarmEvent event);

        /** Writes a line for each event to a log. */
        static FarmEvents to(Log log) {
            return event -> {
                if (event.kind().isWarning()) {
                    log.warn(event.text());
                } else {
                    log.info(event.text());
                }
            };
        }

        /** Tells another one as well, afterwards. */
        default FarmEvents and(FarmEvents other) {
            return event -> {
                happened(event);
                other.happened(event);
            };
        }
    }
}
