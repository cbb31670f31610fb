import Testing

@testable import ServiceRuntime

@Suite struct AvailableCoresTests {
  @Test func `The mask of allowed cores is counted`() {
    #expect(AvailableCores.allowed(status: "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n") == 8)
    #expect(AvailableCores.allowed(status: "Cpus_allowed:\tffffffff,00000001\n") == 33)
    #expect(AvailableCores.allowed(status: "Name:\tx\n") == nil)
  }

  @Test func `The smaller of allowed cores and share of the machine counts`() {
    #expect(AvailableCores.count(status: "Cpus_allowed:\tff\n", quota: 2) == 2)
    #expect(AvailableCores.count(status: "Cpus_allowed:\t3\n", quota: 64) == 2)
    #expect(AvailableCores.count(status: "", quota: 3) == 3)
    #expect(AvailableCores.count(status: "", quota: 0) == 1)
  }
}
