// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

['host', 'microbit', 'mps2-an385', 'mps2-an386', 'mps2-an500', 'mps2-an505', 'mps3-an547', 'stm32f405', 'qemu-riscv32'].each { board ->
    def verify = new JsonSlurper().parse(new File(basedir, "out/$board/kiln/verify.json"))
    assert verify.bitExact : "$board is not bit-exact"
    assert verify.board == board
    assert verify.cases.every { it.mismatches == 0 && it.outputs > 0 }
    assert verify.cases.any { it.name == 'vector_0' } && verify.cases.any { it.name == 'random_1' }
}
return true
