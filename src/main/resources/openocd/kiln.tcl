# SPDX-License-Identifier: Apache-2.0
# What Kiln has OpenOCD do, in words of its own. Lines that begin with "@@kiln" are for Kiln to read.

proc kiln_say {args} {
    echo "@@kiln $args"
}

# No server runs while Kiln flashes, whatever a script says: this file is read before all others, and takes from them the commands
# that open ports or turn the log to a file.
proc kiln_close_ports {} {
    foreach each {gdb_port telnet_port tcl_port} {
        $each disabled
    }
    foreach each {gdb_port telnet_port tcl_port bindto jsp_port log_output {rtt server start} {ipdbg start}} {
        if {[llength [info commands $each]] > 0} {
            rename $each {}
            proc $each {args} [list kiln_say left-out $each]
        }
    }
    # A target's own port counts before gdb_port. Scripts may call init themselves, and nothing is opened before it.
    rename init kiln_openocd_init
    proc init {} {
        foreach target [target names] {
            $target configure -gdb-port disabled
        }
        rename init {}
        rename kiln_openocd_init init
        init
    }
}
kiln_close_ports

# Some targets' scripts switch semihosting on, and OpenOCD would then open files and run programs for the image.
proc kiln_no_semihosting {} {
    set current [target current]
    foreach target [target names] {
        targets $target
        catch {capture {arm semihosting disable}}
    }
    targets $current
}

# OpenOCD carries on with a chip whose identification is not the expected one; nothing must be written to it.
proc kiln_must_be_expected {said} {
    if {[string first "UNEXPECTED:" $said] >= 0} {
        kiln_say wrong-chip
        error "the chip is another one"
    }
}

# The script of a board may connect by itself.
proc kiln_source {script} {
    kiln_must_be_expected [capture {uplevel #0 source [list [find $script]]}]
}

proc kiln_connect {} {
    kiln_must_be_expected [capture {init}]
    reset init
    kiln_say connected
}

# A relative of the expected chip passes for it with OpenOCD: the word that tells them apart is asked for before anything is erased.
proc kiln_must_be_chip {address mask value} {
    set word [read_memory $address 32 1]
    if {($word & $mask) != $value} {
        kiln_say wrong-chip its id at $address reads [format 0x%08x $word], and under the mask $mask that must be $value
        error "the chip is another one"
    }
}

# The parts of a range that lie in flash banks: address and length of each. A bank may know its place only once it was probed.
proc kiln_in_flash {address length} {
    set end [expr {$address + $length}]
    set parts {}
    set number 0
    foreach bank [flash list] {
        if {[dict get $bank base] < $end} {
            catch {flash probe $number}
        }
        incr number
    }
    foreach bank [flash list] {
        set base [dict get $bank base]
        set bank_end [expr {$base + [dict get $bank size]}]
        set from [expr {$address > $base ? $address : $base}]
        set to [expr {$end < $bank_end ? $end : $bank_end}]
        if {$from < $to} {
            lappend parts $from [expr {$to - $from}]
        }
    }
    return $parts
}

# Fails unless the whole range is flash, before anything is erased.
proc kiln_must_be_flash {address length} {
    set known 0
    foreach {from count} [kiln_in_flash $address $length] {
        incr known $count
    }
    if {$known != $length} {
        set sized 0
        foreach bank [flash list] {
            incr sized [dict get $bank size]
        }
        kiln_say [expr {$sized == 0 ? "no-bank" : "outside"}] [format 0x%08x $address] $length
        error "not all of the image lies in flash"
    }
}

# Fails if the chip says that it protects a part of the range against writing: an erase would get half-way at best. Each block has a line
# with its number, its place in the bank, its length and whether it is protected.
proc kiln_must_be_open {address length} {
    set end [expr {$address + $length}]
    set number 0
    foreach bank [flash list] {
        set base [dict get $bank base]
        set said {}
        if {$base < $end && $address < $base + [dict get $bank size]} {
            catch {capture [list flash info $number]} said
        }
        if {[string first "Device Security Bit Set" $said] >= 0} {
            kiln_say locked it is protected against reading
            error "the flash may not be read"
        }
        foreach line [split $said "\n"] {
            if {[regexp {#\s*\d+: (0x[0-9a-f]+) \((0x[0-9a-f]+) [^)]*\) protected} $line - offset size]} {
                set from [expr {$base + $offset}]
                if {$from < $end && $address < $from + $size} {
                    kiln_say locked the block at [format 0x%08x $from] is protected against writing
                    error "not all of the flash may be written"
                }
            }
        }
        incr number
    }
}

# Whether the device holds these files already: file and address of each.
proc kiln_holds {files} {
    foreach {file address} $files {
        if {[catch {verify_image_checksum $file $address bin}]} {
            return 0
        }
    }
    return 1
}

proc kiln_erase {address length} {
    foreach {from count} [kiln_in_flash $address $length] {
        flash erase_address pad $from $count
    }
}

proc kiln_write {file address written} {
    flash write_image $file $address bin
    kiln_say written $written
}
