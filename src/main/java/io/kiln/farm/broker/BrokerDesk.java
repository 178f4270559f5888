// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.base.KilnException;
import io.kiln.farm.desk.FarmDesk;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.desk.Taker;
import io.kiln.farm.desk.Ticket;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.link.FarmQueues;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQIllegalStateException;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.journal.impl.JournalFile;
import org.apache.activemq.artemis.core.journal.impl.JournalImpl;
import org.apache.activemq.artemis.core.paging.PagingStore;
import org.apache.activemq.artemis.core.postoffice.RoutingStatus;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyServerConnection;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.MessageReference;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.ServerConsumer;
import org.apache.activemq.artemis.core.server.ServerSession;
import org.apache.activemq.artemis.core.server.impl.AckReason;
import org.apache.activemq.artemis.core.server.plugin.ActiveMQServerPlugin;
import org.apache.activemq.artemis.core.transaction.Transaction;

/** Tells the desk what the engine does, and has the engine ask the desk before it gives a job away. */
final class BrokerDesk implements ActiveMQServerPlugin, AutoCloseable {
    private static final Pattern TAKER = Pattern.compile("place = '([^']*)' AND board IN \\((.*)\\)");
    private static final Pattern QUOTED = Pattern.compile("'([^']*)'");
    private static final SimpleString JOB = SimpleString.of(FarmQueues.JOB);
    private static final long LOOK_AGAIN_MILLIS = 1000;

    /** Time between two looks: at least this, and more if many jobs wait, each of which all free workers look at. */
    private static final long LEAST_MILLIS = 20;

    private static final long JOBS_A_MILLISECOND = 100;

    /** Percent of the disk that jobs leave to answers, without which no job would ever leave. */
    private static final int PERCENT_FOR_ANSWERS = 10;

    private static final int FEW_FILES = 4;
    private static final int COMPACTION_SECONDS = 60;

    /** Many times what one has. The last hundred are kept, and read together. */
    private static final int LONGEST_FAILURE = 64 << 10;

    private final FarmDesk desk;
    private final String own;
    private final Map<String, FarmMember> members = new ConcurrentHashMap<>();
    private final Map<Long, Taker> takers = new ConcurrentHashMap<>();

    /** Those who ask for jobs and do not say who they are: whoever is held could be one of them. */
    private final Set<Long> nobodys = ConcurrentHashMap.newKeySet();

    private final ScheduledThreadPoolExecutor looks = new ScheduledThreadPoolExecutor(
            2,
            work -> {
                Thread thread = new Thread(work, "farm-desk");
                thread.setDaemon(true);
                return thread;
            },
            // Connections that end with the broker free nobody for whom there is still work.
            new ThreadPoolExecutor.DiscardPolicy());
    private final AtomicBoolean isPlanned = new AtomicBoolean();
    private volatile long lastLook = System.nanoTime();
    private volatile Optional<Queue> jobs = Optional.empty();
    private volatile Optional<String> fullDisk = Optional.empty();

    /** @param own user name of the broker's own process */
    BrokerDesk(FarmDesk desk, String own) {
        this.desk = desk;
        this.own = own;
    }

    /** Takes up the jobs that an earlier broker has kept. */
    void begin(ActiveMQServer server) {
        Queue queue = server.locateQueue(FarmQueues.JOBS);
        queue.forEach(kept -> {
            Ticket ticket = ticket(kept.getMessage());
            desk.sent(ticket);
            desk.kept(ticket.job());
        });
        jobs = Optional.of(queue);
        for (Runnable look : List.<Runnable>of(this::look, () -> limit(server))) {
            ScheduledFuture<?> unused =
                    looks.scheduleWithFixedDelay(look, LOOK_AGAIN_MILLIS, LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Says that the disk is too full for more jobs; empty if it is not. */
    Optional<String> fullDisk() {
        return fullDisk;
    }

    /** Lets those who send jobs wait while the disk is full. What fails is tried again: a look that throws would be the last one. */
    private void limit(ActiveMQServer server) {
        int most = server.getConfiguration().getMaxDiskUsage() - PERCENT_FOR_ANSWERS;
        try {
            PagingStore store = server.getPagingManager().getPageStore(SimpleString.of(FarmQueues.JOBS));
            if (server.getDiskStoreUsage() * 100 > most) {
                store.block();
                fullDisk = Optional.of(
                        "the disk of the queues is fuller than " + most + " percent, so no more jobs are taken");
                makeRoom(server);
            } else {
                store.unblock();
                fullDisk = Optional.empty();
            }
        } catch (Exception e) {
            fullDisk = Optional.of(
                    "the disk of the queues cannot be watched, so no more jobs are taken: " + e.getMessage());
        }
    }

    /**
     * Has the engine write its journal anew without what has left the queues, if that makes room and there is room for it. By itself it looks for
     * that only when messages come.
     */
    private static void makeRoom(ActiveMQServer server) throws Exception {
        if (server.getStorageManager().getMessageJournal() instanceof JournalImpl journal) {
            JournalFile[] files = journal.getDataFiles();
            long live = Stream.of(files).mapToLong(JournalFile::getLiveSize).sum();
            long free = server.getConfiguration().getJournalLocation().getUsableSpace();
            boolean isWorthIt = files.length > FEW_FILES && live * 2 < (long) files.length * journal.getFileSize();
            if (isWorthIt && live < free / 2) {
                journal.scheduleCompactAndBlock(COMPACTION_SECONDS);
            }
        }
    }

    /** Has the engine offer jobs again that were passed over. */
    private void look() {
        isPlanned.set(false);
        lastLook = System.nanoTime();
        if (desk.hasToOffer(Duration.ofMillis(pause()))) {
            jobs.ifPresent(queue -> {
                queue.resetAllIterators();
                queue.deliverAsync();
            });
        }
    }

    private void lookSoon() {
        if (isPlanned.getAndSet(true)) {
            return;
        }
        long gone = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lastLook);
        ScheduledFuture<?> unused = looks.schedule(this::look, Math.max(0, pause() - gone), TimeUnit.MILLISECONDS);
    }

    private long pause() {
        return Math.min(
                LOOK_AGAIN_MILLIS,
                LEAST_MILLIS + jobs.map(Queue::getMessageCount).orElse(0L) / JOBS_A_MILLISECOND);
    }

    @Override
    public void close() {
        looks.shutdownNow();
    }

    private static String text(Message message, String property) {
        return text(message, SimpleString.of(property));
    }

    private static String text(Message message, SimpleString property) {
        Object value = message.getObjectProperty(property);
        return value == null ? "" : value.toString();
    }

    private static Ticket ticket(Message message) {
        return new Ticket(
                text(message, FarmQueues.JOB),
                text(message, FarmQueues.CLIENT),
                text(message, FarmQueues.BOARD),
                text(message, FarmQueues.PLACE),
                new Ticket.Sort(
                        text(message, FarmQueues.KIND),
                        text(message, FarmQueues.PROJECT),
                        message.getPriority(),
                        Labels.parse("a job's needs", text(message, FarmQueues.NEEDS)),
                        text(message, FarmQueues.VERSION),
                        text(message, FarmQueues.IMAGE)),
                Instant.ofEpochMilli(message.getTimestamp()));
    }

    private static boolean isJob(MessageReference reference) {
        return reference.getQueue().getName().toString().equals(FarmQueues.JOBS);
    }

    @Override
    public void afterCreateSession(ServerSession session) {
        FarmMember.of(String.valueOf(session.getUsername()))
                .filter(who -> desk.owns(who.name(), certificate(session)))
                .ifPresent(who -> members.put(session.getName(), who));
    }

    /** The subject of a member's certificate; empty if it has none. */
    private static String certificate(ServerSession session) {
        if (session.getRemotingConnection().getTransportConnection() instanceof NettyServerConnection netty) {
            SslHandler tls = netty.getNettyChannel().pipeline().get(SslHandler.class);
            try {
                return tls != null
                                && tls.engine().getSession().getPeerCertificates()[0] instanceof X509Certificate shown
                        ? shown.getSubjectX500Principal().getName()
                        : "";
            } catch (SSLPeerUnverifiedException e) {
                return "";
            }
        }
        return "";
    }

    @Override
    public void afterCloseSession(ServerSession session, boolean failed) {
        members.remove(session.getName());
    }

    @Override
    public void afterCreateConsumer(ServerConsumer consumer) {
        Matcher condition = TAKER.matcher(
                consumer.getFilterString() == null
                        ? ""
                        : consumer.getFilterString().toString());
        if (!consumer.getQueue().getName().toString().equals(FarmQueues.JOBS)) {
            return;
        }
        Optional<FarmMember> who = Optional.ofNullable(members.get(consumer.getSessionID()));
        if (condition.matches() && who.isPresent() && !consumer.isBrowseOnly()) {
            Set<String> boards = new HashSet<>();
            Matcher board = QUOTED.matcher(condition.group(2));
            while (board.find()) {
                boards.add(board.group(1));
            }
            FarmMember member = who.get();
            takers.put(consumer.sequentialID(), new Taker(member.name(), member.slot(), condition.group(1), boards));
        } else if (condition.matches() || consumer.getFilterString() == null || consumer.isBrowseOnly()) {
            nobodys.add(consumer.sequentialID());
            desk.tell(FarmEvent.of(Kind.NEWS_REFUSED)
                    .with("reason", "somebody asks for jobs who does not say which worker it is, or in whose name"));
        }
    }

    @Override
    public void afterCloseConsumer(ServerConsumer consumer, boolean failed) {
        nobodys.remove(consumer.sequentialID());
        Optional.ofNullable(takers.remove(consumer.sequentialID())).ifPresent(taker -> {
            desk.left(taker, consumer.sequentialID());
            lookSoon();
        });
    }

    @Override
    public void beforeSend(
            ServerSession session, Transaction transaction, Message message, boolean direct, boolean noQueue)
            throws ActiveMQException {
        String queue = message.getAddress();
        if (FarmQueues.JOBS.equals(queue)) {
            try {
                if (!desk.sent(ticket(message))) {
                    throw new ActiveMQIllegalStateException("refused: a job under the id of somebody else's");
                }
            } catch (KilnException e) {
                throw new ActiveMQIllegalStateException("refused: " + e.getMessage());
            }
        } else if (FarmQueues.FAILURES.equals(queue) && message.toCore().getBodyBufferSize() > LONGEST_FAILURE) {
            throw new ActiveMQIllegalStateException(
                    "refused: a failure of " + message.toCore().getBodyBufferSize() + " bytes");
        } else if (FarmQueues.ANSWERS.equals(queue) && !own.equals(session.getUsername())) {
            Optional<FarmMember> who = Optional.ofNullable(members.get(session.getName()));
            boolean isWanted = desk.answered(
                    who.map(FarmMember::name).orElse(""),
                    text(message, FarmQueues.JOB),
                    text(message, FarmQueues.CLIENT),
                    text(message, FarmQueues.RESULT));
            if (!isWanted) {
                // An error would have an honest worker send a late answer again and again. This one is gone at once,
                // and
                // does not keep the right one out.
                message.removeProperty(Message.HDR_DUPLICATE_DETECTION_ID);
                message.setExpiration(1);
            }
        }
    }

    @Override
    public void afterSend(
            ServerSession session,
            Transaction transaction,
            Message message,
            boolean direct,
            boolean noQueue,
            RoutingStatus status) {
        if (FarmQueues.JOBS.equals(message.getAddress())) {
            if (status == RoutingStatus.OK) {
                desk.kept(text(message, FarmQueues.JOB));
            } else {
                desk.notKept(text(message, FarmQueues.JOB), text(message, FarmQueues.CLIENT));
            }
        }
    }

    @Override
    public void onSendException(
            ServerSession session,
            Transaction transaction,
            Message message,
            boolean direct,
            boolean noQueue,
            Exception e) {
        if (FarmQueues.JOBS.equals(message.getAddress())) {
            desk.notKept(text(message, FarmQueues.JOB), text(message, FarmQueues.CLIENT));
        }
    }

    @Override
    public boolean canAccept(ServerConsumer consumer, MessageReference reference) {
        Taker taker = takers.get(consumer.sequentialID());
        if (taker == null) {
            return !nobodys.contains(consumer.sequentialID());
        }
        // Only consumers of jobs are takers.
        return desk.mayTake(taker, text(reference.getMessage(), JOB));
    }

    @Override
    public void afterDeliver(ServerConsumer consumer, MessageReference reference) {
        Taker taker = takers.get(consumer.sequentialID());
        if (taker != null && isJob(reference)) {
            desk.taken(taker, text(reference.getMessage(), FarmQueues.JOB), consumer.sequentialID());
            lookSoon();
        }
    }

    @Override
    public void messageAcknowledged(
            Transaction transaction, MessageReference reference, AckReason reason, ServerConsumer consumer) {
        if (!isJob(reference)) {
            return;
        }
        String job = text(reference.getMessage(), FarmQueues.JOB);
        switch (reason) {
            case EXPIRED -> desk.dropped(job, Kind.JOB_EXPIRED);
            case KILLED -> desk.dropped(job, Kind.JOB_GIVEN_UP);
            default -> desk.finished(job, consumer == null || !takers.containsKey(consumer.sequentialID()));
        }
        lookSoon();
    }
}
