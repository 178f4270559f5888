// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The queues of a farm, the properties of their messages, and their limits. */
public final class FarmQueues {
    /** Jobs, until a worker has sent the result. */
    public static final String JOBS = "kiln.jobs";

    /** Results, and other answers, until their receivers have them. */
    public static final String ANSWERS = "kiln.answers";

    /** Jobs that killed their workers. */
    public static final String DEAD = "kiln.dead";

    /** News of workers about themselves. */
    public static final String NEWS = "kiln.news";

    /** Questions about the farm's state. */
    public static final String QUESTIONS = "kiln.questions";

    /** The last jobs that were given up, without their images. */
    public static final String FAILURES = "kiln.failures";

    public static final List<String> ALL = List.of(JOBS, ANSWERS, DEAD, NEWS, QUESTIONS, FAILURES);

    /** Property: id of the job. */
    public static final String JOB = "job";

    /** Property: id of who waits for the answer. */
    public static final String CLIENT = "client";

    /** Property: id of the board. */
    public static final String BOARD = "board";

    /** Property: a {@code RunPlace} in lower case. */
    public static final String PLACE = "place";

    /** Property: kind of a job's task. */
    public static final String KIND = "kind";

    /** Property: the project whose job it is. */
    public static final String PROJECT = "project";

    /** Property: labels of the workers that may have a job. */
    public static final String NEEDS = "needs";

    /** Property: version of the Kiln that sent a job. */
    public static final String VERSION = "version";

    /** Property: beginning of the digest of a job's image. */
    public static final String IMAGE = "image";

    /** Property: outcome of a job, {@code done} or {@code failed-FAMILY}. */
    public static final String RESULT = "result";

    /** Property: who may have a job of which a broker of another make has the choice. */
    public static final String TAKERS = "takers";

    public static final Set<String> PROPERTIES =
            Set.of(JOB, CLIENT, BOARD, PLACE, KIND, PROJECT, NEEDS, VERSION, IMAGE, RESULT, TAKERS);

    /** Most tries of a job, each by a worker. */
    public static final int TRIES = 2;

    /** Bytes of the largest message. */
    public static final int MOST_BYTES = 32 << 20;

    /** Bytes of the largest packet: the largest message with its properties, and what the engine adds to a body. */
    public static final int MOST_PACKET_BYTES = MOST_BYTES + (64 << 10);

    private FarmQueues() {}

    /** The value of {@link #TAKERS} for some parts of workers. */
    public static String takers(List<FarmMember> members) {
        return members.stream().map(FarmQueues::taker).collect(Collectors.joining(",", ",", ","));
    }

    /** The condition that a part of a worker may have a job. */
    public static String mayTake(FarmMember member) {
        return "(" + TAKERS + " IS NULL OR " + TAKERS + " LIKE '%," + taker(member) + ",%')";
    }

    /** An underscore would stand for any character; names have no equals sign. */
    private static String taker(FarmMember member) {
        return (member.name() + "/" + member.slot()).replace('_', '=');
    }
}
